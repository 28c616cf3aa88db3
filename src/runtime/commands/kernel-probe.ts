import { forbiddenCalls } from "./seccomp.ts";

/**
 * A program that makes the forbidden system calls and prints each result as a 64-bit number. A shell cannot make them,
 * so the program is written as machine code: a loop over a table that follows the code. `undefined` for an architecture
 * without such code.
 */
export function kernelProbe(arch: string): Uint8Array | undefined {
  const calls = forbiddenCalls(arch);
  const made = programs[arch]?.(calls.length);
  if (made === undefined) return undefined;
  const table = Buffer.alloc(calls.length * ROW);
  calls.forEach((call, at) => {
    call.forEach((value, column) => table.writeBigInt64LE(BigInt(value), at * ROW + column * 8));
  });
  const body = Buffer.concat([made.code, table]);
  return Buffer.concat([headerFor(made.machine, HEADER + body.length), body]);
}

/** Whether every forbidden system call failed with one of the errors that the filter returns. */
export function allForbidden(arch: string, answers: Uint8Array): boolean {
  const calls = forbiddenCalls(arch);
  const bytes = Buffer.from(answers);
  if (calls.length === 0 || bytes.length !== calls.length * 8) return false;
  return calls.every((_, at) => REFUSED.has(bytes.readBigInt64LE(at * 8)));
}

/** The error numbers EPERM, ENOSYS and EAFNOSUPPORT. */
const REFUSED = new Set([-1n, -38n, -97n]);

/** Bytes of one row of the table: a system call and five arguments. */
const ROW = 48;
const HEADER = 120;
const ADDRESS = 0x400000;

type Program = (count: number) => Readonly<{ machine: number; code: Buffer }>;

const programs: Readonly<Record<string, Program>> = {
  x64: (count) => {
    const loop = [
      ...[0x48, 0x8b, 0x03], // mov rax, [rbx]
      ...[0x48, 0x8b, 0x7b, 0x08, 0x48, 0x8b, 0x73, 0x10, 0x48, 0x8b, 0x53, 0x18], // rdi, rsi, rdx
      ...[0x4c, 0x8b, 0x53, 0x20, 0x4c, 0x8b, 0x43, 0x28, 0x45, 0x31, 0xc9], // r10, r8, r9 = 0
      ...[0x0f, 0x05, 0x49, 0x89, 0x04, 0x24], // syscall; mov [r12], rax
      ...[0x48, 0x83, 0xc3, ROW, 0x49, 0x83, 0xc4, 0x08, 0x41, 0xff, 0xcd], // next row, next answer, count down
    ];
    const end = [
      ...[0xb8, 1, 0, 0, 0, 0xbf, 1, 0, 0, 0, 0x4c, 0x89, 0xf6, 0xba, ...int32(count * 8), 0x0f, 0x05], // write(1, ...)
      ...[0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05], // exit(0)
    ];
    const start = [
      ...[0x4c, 0x8d, 0xa4, 0x24, ...int32(-4096), 0x4d, 0x89, 0xe6], // r12 = r14 = rsp - 4096
      ...[0x41, 0xbd, ...int32(count)], // r13 = count
    ];
    const tail = [...start, ...loop, 0x75, 256 - (loop.length + 2), ...end];
    return { machine: 62, code: Buffer.from([0x48, 0x8d, 0x1d, ...int32(tail.length), ...tail]) }; // lea rbx, [table]
  },
  arm64: (count) => {
    const tail = [
      ...[0xd14007f4, 0xaa1403f6, 0x52800015 | (count << 5)], // x20 = x22 = sp - 4096; w21 = count
      ...[0xf9400268, 0xa9408660, 0xa9418e62, 0xf9401664, 0xd2800005], // x8, x0 to x4 from the row; x5 = 0
      ...[0xd4000001, 0xf8008680, 0x9100c273, 0x710006b5, 0x54fffee1], // svc; keep the answer; next row; count down; loop
      ...[0xd2800808, 0xd2800020, 0xaa1603e1, 0xd2800002 | ((count * 8) << 5), 0xd4000001], // write(1, ...)
      ...[0xd2800ba8, 0xd2800000, 0xd4000001], // exit(0)
    ];
    const offset = (tail.length + 1) * 4;
    const adr = (0x10000013 | ((offset & 3) << 29) | ((offset >> 2) << 5)) >>> 0; // adr x19, table
    return { machine: 183, code: Buffer.from([adr, ...tail].flatMap((word) => int32(word))) };
  },
};

function int32(value: number): number[] {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value | 0);
  return [...bytes];
}

/** An ELF file with one segment, which is read and run. */
function headerFor(machine: number, size: number): Buffer {
  const header = Buffer.alloc(HEADER);
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  header.writeUInt16LE(2, 16);
  header.writeUInt16LE(machine, 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BigInt(ADDRESS + HEADER), 24);
  header.writeBigUInt64LE(64n, 32);
  header.writeUInt16LE(64, 52);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(1, 56);
  header.writeUInt32LE(1, 64);
  header.writeUInt32LE(5, 68);
  header.writeBigUInt64LE(BigInt(ADDRESS), 80);
  header.writeBigUInt64LE(BigInt(ADDRESS), 88);
  header.writeBigUInt64LE(BigInt(size), 96);
  header.writeBigUInt64LE(BigInt(size), 104);
  header.writeBigUInt64LE(0x10000n, 112);
  return header;
}
