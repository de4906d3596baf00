/**
 * C++ that loads TensorFlow's library, whose path is `TENSORFLOW`, without the two lines about oneDNN that it greets everybody
 * with, whatever `TF_CPP_MIN_LOG_LEVEL` is. What else is written to standard error meanwhile is passed on.
 */
export const quietLoad = `
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static inline bool starts_with(const char* line, const char* start) {
  return strncmp(line, start, strlen(start)) == 0;
}

static inline void* load_quietly() {
  const int flags = RTLD_NOW | RTLD_GLOBAL;
  const char* level = getenv("TF_CPP_MIN_LOG_LEVEL");
  const bool loaded = dlopen(TENSORFLOW, flags | RTLD_NOLOAD) != nullptr;
  const int said = loaded || level == nullptr || atoi(level) == 0 ? -1 : memfd_create("said", 0);
  if (said < 0) return dlopen(TENSORFLOW, flags);
  const int out = dup(2);
  dup2(said, 2);
  void* library = dlopen(TENSORFLOW, flags);
  dup2(out, 2);
  close(out);
  FILE* lines = fdopen(said, "r");
  rewind(lines);
  for (char line[4096]; fgets(line, sizeof line, lines) != nullptr;) {
    if (!starts_with(line, "I0000 ") && !starts_with(line, "WARNING: All log messages before absl::")) fputs(line, stderr);
  }
  fclose(lines);
  return library;
}
`;
