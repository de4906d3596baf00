/**
 * A module as kernels are, compiled from
 *
 *     (module
 *       (import "env" "memory" (memory 1 65536 shared))
 *       (func (export "mark") (param $task i32) (param $thread i32) (param $at i32)
 *         (i32.store (i32.add (local.get $at) (i32.shl (local.get $task) (i32.const 2)))
 *                    (i32.add (local.get $thread) (i32.const 1))))
 *       (func (export "fail") (param $task i32) (param $thread i32) (param $from i32)
 *         (if (i32.ge_s (local.get $thread) (local.get $from)) (then (unreachable)))))
 */
export const markModule: Uint8Array = Buffer.from(
  "AGFzbQEAAAABBwFgA39/fwACEgEDZW52Bm1lbW9yeQIDAYCABAMDAgAABw8CBG1hcmsAAARmYWlsAAEKIAISACACIABBAnRqIAFBAWo2AgALCwAgASACTgRAAAsL",
  "base64",
);
