import { cpuOps } from "./cpuOps/cpuOps.ts";
import { quietLoad } from "./quietLoad.ts";
import { signalGuard } from "./signalGuard.ts";

/**
 * C++ to be included before the binding's sources: our own ops, and what each thread does first when it loads the binding. That
 * is not linked with TensorFlow's library but loads it here; its functions are looked up when they are first called.
 */
export const bindingPrelude = `
#include <node_api.h>
${signalGuard}${quietLoad}${cpuOps}
#undef NAPI_MODULE
#define NAPI_MODULE(name, initialize)                             \\
  NAPI_MODULE_INIT() {                                            \\
    guard_from_signals();                                         \\
    if (load_quietly() == nullptr) {                              \\
      napi_throw_error(env, nullptr, dlerror());                  \\
      return nullptr;                                             \\
    }                                                             \\
    add_cpu_ops(env, exports);                                    \\
    return initialize(env, exports);                              \\
  }
`;
