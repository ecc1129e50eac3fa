/* Ends the process by SIGKILL before the KILL_AT-th call that changes names of files below KILL_IN. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int calls;

static void step(const char *path) {
  const char *at = getenv("KILL_AT"), *place = getenv("KILL_IN");
  if (!at || !place || !strstr(path, place)) return;
  if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) == atoi(at)) kill(getpid(), SIGKILL);
}

int rename(const char *from, const char *to) {
  static int (*real)(const char *, const char *);
  if (!real) real = dlsym(RTLD_NEXT, "rename");
  step(to);
  return real(from, to);
}

int link(const char *from, const char *to) {
  static int (*real)(const char *, const char *);
  if (!real) real = dlsym(RTLD_NEXT, "link");
  step(to);
  return real(from, to);
}

int unlink(const char *path) {
  static int (*real)(const char *);
  if (!real) real = dlsym(RTLD_NEXT, "unlink");
  step(path);
  return real(path);
}
