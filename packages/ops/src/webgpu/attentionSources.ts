import type { GpuProgramSource } from "@dflash/engine";
import { reductions } from "./webgpuContext.ts";

/** Threads of a workgroup, and keys or queries that it takes at once. */
const threads = 64;

const numbers = { queries: "u32", keys: "u32", heads: "u32", groups: "u32", scale: "f32" } as const;

/** Sums of `size` columns in a workgroup: each thread has every 64th. */
const columns = (size: number, text: (i: number, column: string) => string): string =>
  Array.from({ length: Math.ceil(size / threads) }, (_, i) => {
    const column = `column${i}`;
    return `{ let ${column} = thread + ${i * threads}u; if (${column} < ${size}u) { ${text(i, column)} } }`;
  }).join("\n");

const sums = (name: string, size: number): string =>
  Array.from({ length: Math.ceil(size / threads) }, (_, i) => `var ${name}${i} = 0.0;`).join(" ");

const dot = (size: number, a: string, b: string): string => `{
  for (var c = 0u; c < ${size}u; c++) { product += ${a} * ${b}; }
}`;

const head = `@compute @workgroup_size(${threads})
  fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {`;

/** The keys that a query sees, numbered from 0 over both intervals. */
const seen = `
  let bound = 4u * query;
  let firstKeys = u32(bounds[bound + 1u] - bounds[bound]);
  let seenKeys = firstKeys + u32(bounds[bound + 3u] - bounds[bound + 2u]);
  let firstStart = u32(bounds[bound]);
  let secondStart = u32(bounds[bound + 2u]);`;

const keyAt = (number: string): string =>
  `select(secondStart + ${number} - firstKeys, firstStart + ${number}, ${number} < firstKeys)`;

/**
 * A workgroup a query and head, over the keys that the query sees, 64 at a time (online softmax, Milakov and Gimelshein
 * 2018). Gives y, and the logarithm of the row's sum for the backward pass; 0 and 0 where no key is seen.
 */
export const attentionSource = (size: number): GpuProgramSource => ({
  name: "attention",
  arrays: { q: "f32", k: "f32", v: "f32", bounds: "i32", y: "write f32", logSums: "write f32" },
  numbers,
  code: `
    ${reductions(threads)}
    var<workgroup> row: array<f32, ${size}>;
    var<workgroup> shares: array<f32, ${threads}>;
    ${head}
      let query = group.x;
      let place = query * a.heads + group.y;
      let kvHead = group.y / (a.heads / a.groups);
      ${seen}
      for (var c = thread; c < ${size}u; c += ${threads}u) { row[c] = q[place * ${size}u + c]; }
      workgroupBarrier();
      var most = -3e38;
      var sum = 0.0;
      ${sums("value", size)}
      for (var start = 0u; start < seenKeys; start += ${threads}u) {
        let here = start + thread;
        var score = -3e38;
        if (here < seenKeys) {
          let key = ((${keyAt("here")}) * a.groups + kvHead) * ${size}u;
          var product = 0.0;
          ${dot(size, "row[c]", "k[key + c]")}
          score = product * a.scale;
        }
        let next = max(most, largest(score, thread));
        let kept = exp(most - next);
        var share = 0.0;
        if (here < seenKeys) { share = exp(score - next); }
        shares[thread] = share;
        sum = sum * kept + total(share, thread);
        most = next;
        ${columns(size, (i) => `value${i} *= kept;`)}
        let count = min(${threads}u, seenKeys - start);
        for (var j = 0u; j < count; j++) {
          let number = start + j;
          let key = ((${keyAt("number")}) * a.groups + kvHead) * ${size}u;
          ${columns(size, (i, column) => `value${i} += shares[j] * v[key + ${column}];`)}
        }
        workgroupBarrier();
      }
      if (seenKeys == 0u) { sum = 1.0; most = 0.0; }
      ${columns(size, (i, column) => `y[place * ${size}u + ${column}] = value${i} / sum;`)}
      if (thread == 0u) { logSums[place] = most + log(sum); }
    }`,
});

/** dq of a query and head, and its Σ dy·y: with p the shares, ds = p·(dy·vᵀ − Σ dy·y) and dq = ds·k·scale. */
export const queryGradientSource = (size: number): GpuProgramSource => ({
  name: "attention's gradient of queries",
  arrays: {
    q: "f32",
    k: "f32",
    v: "f32",
    bounds: "i32",
    y: "f32",
    logSums: "f32",
    dy: "f32",
    dq: "write f32",
    alongs: "write f32",
  },
  numbers,
  code: `
    ${reductions(threads)}
    var<workgroup> row: array<f32, ${size}>;
    var<workgroup> slope: array<f32, ${size}>;
    var<workgroup> slopes: array<f32, ${threads}>;
    ${head}
      let query = group.x;
      let place = query * a.heads + group.y;
      let kvHead = group.y / (a.heads / a.groups);
      ${seen}
      var part = 0.0;
      for (var c = thread; c < ${size}u; c += ${threads}u) {
        row[c] = q[place * ${size}u + c];
        slope[c] = dy[place * ${size}u + c];
        part += slope[c] * y[place * ${size}u + c];
      }
      let along = total(part, thread);
      let logSum = logSums[place];
      ${sums("value", size)}
      for (var start = 0u; start < seenKeys; start += ${threads}u) {
        let here = start + thread;
        var slopeOfScore = 0.0;
        if (here < seenKeys) {
          let key = ((${keyAt("here")}) * a.groups + kvHead) * ${size}u;
          var product = 0.0;
          ${dot(size, "row[c]", "k[key + c]")}
          let share = exp(product * a.scale - logSum);
          product = 0.0;
          ${dot(size, "slope[c]", "v[key + c]")}
          slopeOfScore = share * (product - along) * a.scale;
        }
        slopes[thread] = slopeOfScore;
        workgroupBarrier();
        let count = min(${threads}u, seenKeys - start);
        for (var j = 0u; j < count; j++) {
          let number = start + j;
          let key = ((${keyAt("number")}) * a.groups + kvHead) * ${size}u;
          ${columns(size, (i, column) => `value${i} += slopes[j] * k[key + ${column}];`)}
        }
        workgroupBarrier();
      }
      ${columns(size, (i, column) => `dq[place * ${size}u + ${column}] = value${i};`)}
      if (thread == 0u) { alongs[place] = along; }
    }`,
});

/**
 * dk and dv of a key and head of keys, over the queries that see it, 64 at a time in their order, so that sums come out the
 * same every time: dk = dsᵀ·q·scale, dv = pᵀ·dy.
 */
export const keyGradientSource = (size: number): GpuProgramSource => ({
  name: "attention's gradient of keys and values",
  arrays: {
    q: "f32",
    k: "f32",
    v: "f32",
    bounds: "i32",
    logSums: "f32",
    dy: "f32",
    alongs: "f32",
    dk: "write f32",
    dv: "write f32",
  },
  numbers,
  code: `
    ${reductions(threads)}
    var<workgroup> keyRow: array<f32, ${size}>;
    var<workgroup> valueRow: array<f32, ${size}>;
    var<workgroup> shares: array<f32, ${threads}>;
    var<workgroup> slopes: array<f32, ${threads}>;
    ${head}
      let key = group.x;
      let perGroup = a.heads / a.groups;
      let place = (key * a.groups + group.y) * ${size}u;
      for (var c = thread; c < ${size}u; c += ${threads}u) {
        keyRow[c] = k[place + c];
        valueRow[c] = v[place + c];
      }
      ${sums("forKey", size)}
      ${sums("forValue", size)}
      for (var start = 0u; start < a.queries; start += ${threads}u) {
        let query = start + thread;
        var sees = false;
        if (query < a.queries) {
          let number = i32(key);
          let bound = 4u * query;
          sees = (number >= bounds[bound] && number < bounds[bound + 1u])
            || (number >= bounds[bound + 2u] && number < bounds[bound + 3u]);
        }
        if (total(f32(sees), thread) == 0.0) { continue; }
        for (var h = 0u; h < perGroup; h++) {
          let head = group.y * perGroup + h;
          let at = query * a.heads + head;
          var share = 0.0;
          var slope = 0.0;
          if (sees) {
            var product = 0.0;
            ${dot(size, `q[at * ${size}u + c]`, "keyRow[c]")}
            share = exp(product * a.scale - logSums[at]);
            product = 0.0;
            ${dot(size, `dy[at * ${size}u + c]`, "valueRow[c]")}
            slope = share * (product - alongs[at]) * a.scale;
          }
          workgroupBarrier();
          shares[thread] = share;
          slopes[thread] = slope;
          workgroupBarrier();
          let count = min(${threads}u, a.queries - start);
          for (var j = 0u; j < count; j++) {
            if (shares[j] == 0.0) { continue; }
            let row = ((start + j) * a.heads + head) * ${size}u;
            ${columns(
              size,
              (i, column) => `forKey${i} += slopes[j] * q[row + ${column}];
              forValue${i} += shares[j] * dy[row + ${column}];`,
            )}
          }
        }
      }
      ${columns(size, (i, column) => `dk[place + ${column}] = forKey${i}; dv[place + ${column}] = forValue${i};`)}
    }`,
});
