/*
 * The filter of system calls in the sandbox, as a classic BPF program for the kernel. It blocks calls that no build
 * tool needs and that were often used to escape: the keyring, performance counters, BPF, userfaultfd, io_uring,
 * mounting, kernel modules, the clock, sockets without a network namespace, and new user namespaces.
 */

/** A processor architecture: its name in the kernel's audit records, and the numbers of the system calls. */
type Calls = Readonly<{ audit: number; closed: readonly number[]; namespaces: readonly number[] } & Judged>;
/** System calls that are allowed or refused depending on an argument. */
type Judged = Readonly<{ unshare: number; clone: number; clone3: number; socket: number; ioctl: number }>;

// Since Linux 5.1, new system calls have the same number on all architectures: io_uring, mounting by descriptor,
// quotactl_fd.
const EVERYWHERE = [425, 426, 427, 443];
const MOUNTING_EVERYWHERE = [428, 429, 430, 431, 432, 433, 442];

const X64: Calls = {
  audit: 0xc000003e,
  closed: [
    ...EVERYWHERE,
    ...[248, 249, 250], // keyring: add_key, request_key, keyctl
    ...[298, 321, 323], // performance counters and kernel programs: perf_event_open, bpf, userfaultfd
    ...[174, 175, 176, 177, 178, 313], // system calls that load kernel modules
    ...[246, 320, 169, 167, 168], // replacing or stopping the system: kexec, reboot, swap
    ...[164, 227, 159, 305], // system calls that set clocks
    ...[172, 173, 103, 153, 163, 179, 180, 212], // ports, kernel log, vhangup, accounting, quota, nfsservctl, dcookie
    ...[300, 304, 256, 279, 134, 156], // fanotify, file handles, memory pages of other processes, uselib, _sysctl
  ],
  namespaces: [...MOUNTING_EVERYWHERE, 165, 166, 155, 308], // mounting and namespaces: mount, umount2, pivot_root, setns
  unshare: 272,
  clone: 56,
  clone3: 435,
  socket: 41,
  ioctl: 16,
};

/**
 * 32-bit programs on x86_64. The system call `socketcall` is refused: it hides its arguments from a filter, and C
 * libraries have not used it since 2016.
 */
const X86: Calls = {
  audit: 0x40000003,
  closed: [
    ...EVERYWHERE,
    ...[286, 287, 288, 336, 357, 374],
    ...[127, 128, 129, 130, 167, 350],
    ...[283, 88, 87, 115],
    ...[25, 79, 264, 404, 124, 343, 405],
    ...[101, 110, 103, 111, 51, 131, 169, 253, 113, 166],
    ...[338, 342, 294, 317, 86, 149, 102],
  ],
  namespaces: [...MOUNTING_EVERYWHERE, 21, 22, 52, 217, 346],
  unshare: 310,
  clone: 120,
  clone3: 435,
  socket: 359,
  ioctl: 54,
};

const ARM64: Calls = {
  audit: 0xc00000b7,
  closed: [
    ...EVERYWHERE,
    ...[217, 218, 219, 241, 280, 282],
    ...[105, 106, 273],
    ...[104, 294, 142, 224, 225],
    ...[170, 112, 171, 266],
    ...[116, 58, 89, 60, 42, 18],
    ...[262, 265, 238, 239],
  ],
  namespaces: [...MOUNTING_EVERYWHERE, 40, 39, 41, 268],
  unshare: 97,
  clone: 220,
  clone3: 435,
  socket: 198,
  ioctl: 29,
};

/** The system-call tables of a processor; programs of other architectures cannot run in a sandbox on it. */
const architectures: Readonly<Record<string, readonly Calls[]>> = { x64: [X64, X86], arm64: [ARM64] };

/**
 * The system call filter for a processor architecture, by Node's name of it; `undefined` if unsupported. `namespaces`:
 * creating namespaces is allowed.
 */
export function seccompFilter(arch: string, { namespaces = false } = {}): Uint8Array | undefined {
  const calls = architectures[arch];
  if (calls === undefined) return undefined;
  const code: Instruction[] = [LOAD_ARCH];
  for (const each of calls) {
    const section = sectionOf(each, namespaces);
    // A conditional jump reaches 255 instructions; an unconditional one any number.
    code.push(jumpUnlessEqual(each.audit, 1), { code: JUMP, k: 1 }, { code: JUMP, k: section.length }, ...section);
  }
  code.push(fail(ENOSYS));
  const bytes = Buffer.alloc(code.length * 8);
  code.forEach(({ code: op, jt = 0, jf = 0, k }, at) => {
    bytes.writeUInt16LE(op, at * 8);
    bytes.writeUInt8(jt, at * 8 + 2);
    bytes.writeUInt8(jf, at * 8 + 3);
    bytes.writeUInt32LE(k, at * 8 + 4);
  });
  return bytes;
}

function sectionOf(calls: Calls, namespaces: boolean): Instruction[] {
  const closed = namespaces ? calls.closed : [...calls.closed, ...calls.namespaces];
  const noUsers = [jumpUnlessSet(NEW_USER, 1), fail(EPERM), ALLOW];
  return [
    LOAD_NUMBER,
    // x32 system call numbers are other numbers for the same calls, so they are refused.
    ...(calls === X64 ? [{ code: JUMP_GREATER, jt: 0, jf: 1, k: 0x40000000 }, fail(ENOSYS)] : []),
    ...closed.flatMap((number) => [jumpUnlessEqual(number, 1), fail(EPERM)]),
    ...(namespaces
      ? []
      : [
          // The flags of clone3 are in memory, which a filter cannot read; so the call fails, and C libraries use clone
          // instead.
          jumpUnlessEqual(calls.clone3, 1),
          fail(ENOSYS),
          ...onArgument(calls.clone, 0, noUsers),
          ...onArgument(calls.unshare, 0, noUsers),
        ]),
    ...onArgument(calls.socket, 0, [
      ...FAMILIES.flatMap((family) => [jumpUnlessEqual(family, 1), ALLOW]),
      fail(EAFNOSUPPORT),
    ]),
    ...onArgument(calls.ioctl, 1, [...TYPING.flatMap((request) => [jumpUnlessEqual(request, 1), fail(EPERM)]), ALLOW]),
    ALLOW,
  ];
}

/** Instructions that test the lower half of an argument of one system call. */
const onArgument = (number: number, argument: number, then: readonly Instruction[]): Instruction[] => [
  jumpUnlessEqual(number, then.length + 1),
  { code: LOAD, k: 16 + argument * 8 },
  ...then,
];

type Instruction = Readonly<{ code: number; jt?: number; jf?: number; k: number }>;

const LOAD = 0x20;
const JUMP = 0x05;
const JUMP_GREATER = 0x35;
const LOAD_NUMBER: Instruction = { code: LOAD, k: 0 };
const LOAD_ARCH: Instruction = { code: LOAD, k: 4 };
const RETURN = 0x06;
const ALLOW: Instruction = { code: RETURN, k: 0x7fff0000 };
const fail = (errno: number): Instruction => ({ code: RETURN, k: 0x00050000 | errno });
const jumpUnlessEqual = (k: number, by: number): Instruction => ({ code: 0x15, jt: 0, jf: by, k });
const jumpUnlessSet = (k: number, by: number): Instruction => ({ code: 0x45, jt: 0, jf: by, k });

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
/** The flag CLONE_NEWUSER, which asks for a new user namespace. */
const NEW_USER = 0x10000000;
/**
 * The allowed socket families: Unix, IPv4, IPv6, netlink (for the addresses of this machine). Other families, such as
 * vsock, would reach the host of this machine.
 */
const FAMILIES = [1, 2, 10, 16];
/** The ioctl requests TIOCSTI and TIOCLINUX, with which a program can type into a terminal. */
const TYPING = [0x5412, 0x541c];

/** A system call that must fail in the sandbox; with these arguments it does no harm if it succeeds. */
type Attempt = readonly [number: number, ...args: number[]];

/** The system calls that the test of the sandbox tries, for an architecture. Only the filter refuses them. */
export function forbiddenCalls(arch: string): readonly Attempt[] {
  const calls = architectures[arch]?.[0];
  if (calls === undefined) return [];
  const [, , , , addKey = 0, requestKey = 0, keyctl = 0, perf = 0, bpf = 0, userfault = 0] = calls.closed;
  return [
    [addKey],
    [requestKey],
    [keyctl, 0, -3],
    [perf],
    [bpf],
    [userfault],
    [425],
    [calls.clone, NEW_USER | 0x10000], // CLONE_THREAD makes the flags invalid, so nothing starts even if the filter fails
    [calls.clone3],
    [calls.unshare, NEW_USER],
    [calls.socket, 40, 1], // a socket to the host of a virtual machine (AF_VSOCK)
    [calls.socket, 38, 5], // a socket to the kernel's cryptography (AF_ALG)
  ];
}
