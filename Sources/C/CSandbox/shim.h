// Kernel features for sandboxing that glibc's module for Swift lacks. They are system calls without a wrapper
// (Landlock, pidfd_open), variadic ones (prctl, syscall), and the CMSG macros. Swift's overlay hides fork, which is
// unsafe in a process with several threads; this program forks while it has one.
#ifndef ZIGGURAT_SANDBOX_H
#define ZIGGURAT_SANDBOX_H

#include <errno.h>
#include <linux/filter.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline pid_t sandbox_fork(void) { return fork(); }

// Any system call, for tests of the filter.
static inline long sandbox_call(long number, long first, long second, long third) {
  return syscall(number, first, second, third);
}

// A temporary file without a name; glibc's wrapper is behind a macro that the overlay does not set.
static inline int sandbox_memory_file(void) { return (int)syscall(SYS_memfd_create, "ziggurat", 1u); }

static inline int sandbox_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

static inline int sandbox_prctl(int option, unsigned long value) { return prctl(option, value, 0, 0, 0); }

// glibc 2.34 has it behind a macro that the overlay does not set.
static inline int sandbox_close_range(unsigned first, unsigned last) {
  return (int)syscall(SYS_close_range, first, last, 0u);
}

static inline int sandbox_set_name(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

// Landlock (Documentation/userspace-api/landlock.rst). The structures are defined here because Debian's headers are
// older than its kernels. The kernel accepts larger structures if the additional bytes are zero.
struct sandbox_ruleset {
  uint64_t file_system, network, scopes;
};

struct sandbox_path_rule {
  uint64_t access;
  int32_t folder;
} __attribute__((packed));

// The version of the kernel's Landlock interface, or -1 without Landlock.
static inline int sandbox_landlock_version(void) { return (int)syscall(444, NULL, 0, 1u); }

static inline int sandbox_landlock_ruleset(const struct sandbox_ruleset *rules, size_t size) {
  return (int)syscall(444, rules, size, 0u);
}

static inline int sandbox_landlock_allow(int ruleset, int file, uint64_t access) {
  struct sandbox_path_rule rule = {access, file};
  return (int)syscall(445, ruleset, 1, &rule, 0u);
}

static inline int sandbox_landlock_restrict(int ruleset) { return (int)syscall(446, ruleset, 0u); }

// Installs a seccomp filter of `count` instructions of eight bytes, for the calling thread and its later threads.
static inline int sandbox_install_filter(const void *instructions, unsigned short count) {
  struct sock_fprog program = {count, (struct sock_filter *)instructions};
  return prctl(PR_SET_SECCOMP, 2 /* SECCOMP_MODE_FILTER */, &program, 0, 0);
}

#define SANDBOX_MOST_FILES 64

// Sends bytes with descriptors; the caller must send the bytes that did not fit. -1: see errno.
static inline ssize_t sandbox_send(int socket, const void *bytes, size_t count, const int *files, int fileCount,
                                int flags) {
  char control[CMSG_SPACE(sizeof(int) * SANDBOX_MOST_FILES)];
  struct iovec part = {(void *)bytes, count};
  struct msghdr message = {0};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fileCount > SANDBOX_MOST_FILES) { errno = EINVAL; return -1; }
  if (fileCount > 0) {
    memset(control, 0, sizeof control);
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)fileCount);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)fileCount);
    memcpy(CMSG_DATA(head), files, sizeof(int) * (size_t)fileCount);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL | flags);
}

// Receives bytes with the attached descriptors, at most SANDBOX_MOST_FILES of them, close-on-exec. Without space for them
// (`files` NULL), the kernel closes them.
static inline ssize_t sandbox_receive(int socket, void *bytes, size_t count, int *files, int *fileCount) {
  char control[CMSG_SPACE(sizeof(int) * SANDBOX_MOST_FILES)];
  struct iovec part = {bytes, count};
  struct msghdr message = {0};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (files) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    *fileCount = 0;
  }
  ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (got >= 0 && files) {
    for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
      if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
      int number = (int)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
      memcpy(files, CMSG_DATA(head), sizeof(int) * (size_t)number);
      *fileCount = number;
    }
  }
  return got;
}

#endif
