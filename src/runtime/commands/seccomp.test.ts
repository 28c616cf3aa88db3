import { describe, expect, test } from "vitest";
import { allForbidden, kernelProbe } from "./kernel-probe.ts";
import { forbiddenCalls, seccompFilter } from "./seccomp.ts";

/** The action of the kernel for a system call, by the rules of classic BPF. */
function verdict(
  filter: Uint8Array,
  { arch, call, args = [] }: { arch: number; call: number; args?: number[] },
): string {
  const program = Buffer.from(filter);
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call, 0);
  data.writeUInt32LE(arch, 4);
  args.forEach((value, at) => data.writeBigInt64LE(BigInt(value), 16 + at * 8));
  let accumulator = 0;
  for (let at = 0; at * 8 < program.length; at++) {
    const [code, jt, jf, k] = [
      program.readUInt16LE(at * 8),
      program.readUInt8(at * 8 + 2),
      program.readUInt8(at * 8 + 3),
      program.readUInt32LE(at * 8 + 4),
    ];
    if (code === 0x20) accumulator = data.readUInt32LE(k);
    else if (code === 0x15) at += accumulator === k ? jt : jf;
    else if (code === 0x35) at += accumulator >= k ? jt : jf;
    else if (code === 0x45) at += (accumulator & k) !== 0 ? jt : jf;
    else if (code === 0x05) at += k;
    else if (code === 0x06) return k === 0x7fff0000 ? "allowed" : `errno ${k & 0xffff}`;
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error("the program does not end");
}

const [X64, X86, ARM64, ARM] = [0xc000003e, 0x40000003, 0xc00000b7, 0x40000028];
const NEW_USER = 0x10000000;

/** Numbers from the kernel's own headers. */
const numbers = {
  x64: {
    arch: X64,
    read: 0,
    keyctl: 250,
    perf: 298,
    bpf: 321,
    mount: 165,
    setns: 308,
    unshare: 272,
    clone: 56,
    socket: 41,
    ioctl: 16,
  },
  x86: {
    arch: X86,
    read: 3,
    keyctl: 288,
    perf: 336,
    bpf: 357,
    mount: 21,
    setns: 346,
    unshare: 310,
    clone: 120,
    socket: 359,
    ioctl: 54,
  },
  arm64: {
    arch: ARM64,
    read: 63,
    keyctl: 219,
    perf: 241,
    bpf: 280,
    mount: 40,
    setns: 268,
    unshare: 97,
    clone: 220,
    socket: 198,
    ioctl: 29,
  },
};

describe.each([
  ["x64", "x64"],
  ["x64", "x86"],
  ["arm64", "arm64"],
] as const)("the filter of %s, for programs of %s", (machine, kind) => {
  const { arch, ...calls } = numbers[kind];
  const asked = (call: number, args: number[] = [], namespaces = false): string =>
    verdict(seccompFilter(machine, { namespaces })!, { arch, call, args });

  test("blocks the keyring, performance counters, BPF and mounting, and no other calls", () => {
    for (const call of [calls.keyctl, calls.perf, calls.bpf, calls.mount, calls.setns, 425, 428])
      expect([call, asked(call)]).toEqual([call, "errno 1"]);
    expect([asked(calls.read), asked(calls.ioctl, [0, 0x5413])]).toEqual(["allowed", "allowed"]);
    expect([asked(calls.ioctl, [0, 0x5412]), asked(calls.ioctl, [0, 0x541c])]).toEqual(["errno 1", "errno 1"]);
  });

  test("allows new user namespaces only when asked", () => {
    const tries = (namespaces: boolean): string[] => [
      asked(calls.unshare, [NEW_USER | 0x20000], namespaces),
      asked(calls.clone, [NEW_USER | 17], namespaces),
      asked(435, [], namespaces),
      asked(calls.mount, [], namespaces),
      asked(calls.clone, [17], namespaces),
      asked(calls.unshare, [0x200], namespaces),
      asked(calls.keyctl, [], namespaces),
    ];
    expect(tries(false)).toEqual(["errno 1", "errno 1", "errno 38", "errno 1", "allowed", "allowed", "errno 1"]);
    expect(tries(true)).toEqual([...Array<string>(6).fill("allowed"), "errno 1"]);
  });

  test("allows only Unix and internet sockets", () => {
    for (const family of [1, 2, 10, 16]) expect(asked(calls.socket, [family, 1])).toBe("allowed");
    for (const family of [0, 3, 17, 31, 38, 40, 44]) expect(asked(calls.socket, [family, 1])).toBe("errno 97");
  });
});

test("programs for other architectures cannot make system calls", () => {
  expect(verdict(seccompFilter("x64")!, { arch: X64, call: 0x40000000 + 250 })).toBe("errno 38");
  expect(verdict(seccompFilter("x64")!, { arch: ARM64, call: 63 })).toBe("errno 38");
  expect(verdict(seccompFilter("arm64")!, { arch: ARM, call: 3 })).toBe("errno 38");
  expect(seccompFilter("riscv64")).toBeUndefined();
});

test.each(["x64", "arm64"])("the probe of %s tries only what the filter refuses", (arch) => {
  const native = arch === "x64" ? X64 : ARM64;
  for (const [call, ...args] of forbiddenCalls(arch))
    expect([call, verdict(seccompFilter(arch)!, { arch: native, call, args })]).not.toContain("allowed");
  expect(kernelProbe(arch)?.slice(0, 4)).toEqual(Buffer.from("\u007fELF"));
});

test("a probe without an answer, or with an answer other than a refusal, proves nothing", () => {
  const count = forbiddenCalls("x64").length;
  const answers = (value: bigint): Buffer => {
    const bytes = Buffer.alloc(count * 8);
    for (let at = 0; at < count; at++) bytes.writeBigInt64LE(at === 3 ? value : -1n, at * 8);
    return bytes;
  };
  expect(allForbidden("x64", answers(-1n))).toBe(true);
  for (const value of [0n, -14n, 5n]) expect(allForbidden("x64", answers(value))).toBe(false);
  expect([allForbidden("x64", Buffer.alloc(0)), allForbidden("riscv64", Buffer.alloc(0))]).toEqual([false, false]);
});
