// Loaded in front of the C libraries (LD_PRELOAD), injects a failure into the change of a space's key at the critical
// time: when the keyring's new version has its name. FAULT names the failure.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int isSwitched;

static int is(const char *failure) {
  const char *value = getenv("FAULT");
  return value && strcmp(value, failure) == 0;
}

int rename(const char *from, const char *to) {
  static int (*real)(const char *, const char *);
  if (!real) real = dlsym(RTLD_NEXT, "rename");
  int result = real(from, to);
  const char *name = strrchr(to, '/');
  if (result == 0 && name && strcmp(name, "/keyring") == 0) {
    isSwitched = 1;
    if (is("kill")) kill(getpid(), SIGKILL);
  }
  return result;
}

// The disk is full from then on.
#define MAKER(name)                                        \
  int name(char *path, int count) {                        \
    static int (*real)(char *, int);                       \
    if (!real) real = dlsym(RTLD_NEXT, #name);             \
    if (isSwitched && is("full")) {                        \
      errno = ENOSPC;                                      \
      return -1;                                           \
    }                                                      \
    return real(path, count);                              \
  }
MAKER(mkstemps)
MAKER(mkstemps64)

// The keyring's name does not get to the disk, or is said not to.
int fsync(int file) {
  static int (*real)(int);
  if (!real) real = dlsym(RTLD_NEXT, "fsync");
  struct stat status;
  if (isSwitched && is("sync") && fstat(file, &status) == 0 && S_ISDIR(status.st_mode)) {
    errno = ENOSPC;
    return -1;
  }
  return real(file);
}
