/**
 * C++ by which no signal is handled on the stack of a thread that loads the binding.
 *
 * oneDNN's products (`jit_avx_gemm_f32`, which TensorFlow's MatMul calls) let the stack pointer point into the heap while they
 * compute, so that a signal handled meanwhile, such as Ctrl-C's or the CPU profiler's, is written over it. Signals to the
 * process go to another thread, since these and all threads that they start refuse them; the profiler's, which are to this
 * thread, are handled on a stack of its own.
 */
export const signalGuard = `
#include <pthread.h>
#include <signal.h>

static inline void guard_from_signals() {
  static thread_local char handler_stack[1 << 16];
  stack_t stack = {};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  sigaltstack(&stack, nullptr);
  sigset_t refused;
  sigfillset(&refused);
  const int own[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGPROF, SIGSEGV, SIGSYS, SIGTRAP};
  for (int signal : own) sigdelset(&refused, signal);
  pthread_sigmask(SIG_BLOCK, &refused, nullptr);
}
`;
