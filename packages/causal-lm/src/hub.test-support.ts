import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** A hub in this process with one model, in the shape of the API that @huggingface/hub speaks. */
export interface TestHub {
  readonly url: string;
  /** The model's files, to be changed at will. */
  readonly files: Map<string, Buffer>;
  /** What was asked for so far: `path` or `path from-to`. */
  readonly requests: string[];
  /** How the next download of a weight file goes wrong. */
  mishap: { readonly kind: "cut"; readonly after: number } | { readonly kind: "flip" } | undefined;
  close(): Promise<void>;
}

const commit = "c".repeat(40);
const hex = (algorithm: string, data: Buffer | string): string => createHash(algorithm).update(data).digest("hex");

const info = (path: string, data: Buffer): object => ({
  type: "file",
  path,
  size: data.length,
  oid: hex("sha1", `blob ${data.length}\0${data.toString("latin1")}`),
  ...(path.endsWith(".safetensors") && { lfs: { oid: hex("sha256", data), size: data.length, pointerSize: 134 } }),
});

/** Starts a hub that serves `name`. */
export async function startHub(name: string, contents: Readonly<Record<string, Buffer>>): Promise<TestHub> {
  const files = new Map(Object.entries(contents));
  const requests: string[] = [];

  function sendFile(path: string, { headers }: IncomingMessage, response: ServerResponse): void {
    const data = files.get(path);
    if (!data) return void response.writeHead(404, { "x-error-code": "EntryNotFound" }).end();
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "") ?? [];
    const start = Number(from ?? 0);
    const end = Number(to ?? data.length - 1) + 1;
    if (end - start > 1 || start > 0) requests.push(from === undefined ? path : `${path} ${from}-${to}`);
    const part = Buffer.from(data.subarray(start, end));
    response.writeHead(from === undefined ? 200 : 206, {
      "content-length": part.length,
      etag: `"${hex("md5", data)}"`,
      ...(from !== undefined && { "content-range": `bytes ${start}-${end - 1}/${data.length}` }),
    });
    const { mishap } = hub;
    if (!mishap || part.length === 1 || !path.endsWith(".safetensors")) return void response.end(part);
    hub.mishap = undefined;
    if (mishap.kind === "cut") response.write(part.subarray(0, mishap.after), () => response.destroy());
    else {
      part[part.length - 1]! ^= 1;
      response.end(part);
    }
  }

  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, "http://hub");
    const json = (value: unknown): void =>
      void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (pathname === `/api/models/${name}/revision/main`) json({ _id: "1", id: name, sha: commit, lastModified: 0 });
    else if (pathname === `/api/models/${name}/tree/${commit}`)
      json([...files].map(([path, data]) => info(path, data)));
    else if (pathname.startsWith(`/${name}/resolve/${commit}/`))
      sendFile(pathname.split("/").at(-1)!, request, response);
    else if (pathname.includes("/secret")) response.writeHead(401).end();
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const hub: TestHub = {
    url: `http://127.0.0.1:${port}`,
    files,
    requests,
    mishap: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return hub;
}
