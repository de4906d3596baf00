import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { unpackWheel } from "./unpackWheel.ts";

const folder = mkdtempSync(join(tmpdir(), "wheel-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Packed {
  name: string;
  text: string;
  method?: number;
  /** What the archive says in place of the truth. */
  crc?: number;
  bytes?: number;
}

/** A zip archive by its specification: local headers with the data, the central directory, its end. */
function zip(files: readonly Packed[], comment = ""): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, text, method = 8, crc = crc32(text), bytes = Buffer.byteLength(text) } of files) {
    const data = method === 8 ? deflateRawSync(text) : Buffer.from(text);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(crc, 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(bytes, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), common, Buffer.from(name), data]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.from("PK\x01\x02\x14\0", "latin1"), common, place, Buffer.from(name));
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  for (const at of [8, 10]) end.writeUInt16LE(files.length, at);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...parts, list, end, Buffer.from(comment)]);
}

let made = 0;
function wheelOf(content: Buffer): { wheel: string; target: string } {
  const wheel = join(folder, `${++made}.whl`);
  writeFileSync(wheel, content);
  return { wheel, target: join(folder, String(made)) };
}

const files: Packed[] = [
  { name: "a/stored.h", text: "stored", method: 0 },
  { name: "a/b/packed.h", text: "packed ".repeat(10_000) },
  { name: "a/empty.h", text: "", method: 0 },
  { name: "a/", text: "", method: 0 },
  { name: "unwanted", text: "unwanted" },
];

test("wanted files come out as they went in, stored, packed and empty ones, with a comment behind", async () => {
  const { wheel, target } = wheelOf(zip(files, "PK".repeat(1000)));
  const names = await unpackWheel(wheel, target, (name) => name.startsWith("a/"));
  expect(names).toEqual(["a/stored.h", "a/b/packed.h", "a/empty.h"]);
  for (const { name, text } of files.slice(0, 3)) expect(readFileSync(join(target, name), "utf8")).toBe(text);
  expect(existsSync(join(target, "unwanted"))).toBe(false);
});

test.each([
  ["leaves the folder", { name: "../outside", text: "x" }, "would be unpacked outside its folder"],
  ["has an unknown method", { name: "x", text: "x", method: 12 }, "is packed by method 12, expected 0 or 8"],
  ["has other bytes", { name: "x", text: "x", crc: 7 }, "is damaged; download the wheel again"],
  ["is longer than it says", { name: "x", text: "x".repeat(100), bytes: 10 }, "can't be unpacked: is longer"],
  ["is shorter than it says", { name: "x", text: "x", bytes: 10 }, "is damaged"],
])("an entry that %s is named", async (_, entry, problem) => {
  const { wheel, target } = wheelOf(zip([entry]));
  await expect(unpackWheel(wheel, target, () => true)).rejects.toThrow(`${wheel}: ${entry.name} ${problem}`);
  expect(existsSync(join(folder, "outside"))).toBe(false);
});

test("a file that is none, is cut or has a damaged directory is named", async () => {
  const whole = zip(files);
  const cases: [Buffer, string][] = [
    [Buffer.from("no zip at all"), "is no wheel: it has no end of a zip archive"],
    [Buffer.alloc(0), "is no wheel"],
    [whole.subarray(0, whole.length - 30), "is no wheel"],
    [whole.subarray(100), "its directory ends at byte"],
    [Buffer.from(whole).fill(0, whole.length - 100, whole.length - 90), "entry 4 of its directory is damaged"],
  ];
  for (const [content, problem] of cases) {
    const { wheel, target } = wheelOf(content);
    await expect(unpackWheel(wheel, target, () => true)).rejects.toThrow(`${wheel}: ${problem}`);
  }
  await expect(unpackWheel(join(folder, "missing.whl"), folder, () => true)).rejects.toThrow(
    "missing.whl: can't be read",
  );
});
