import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Program, startProgram } from '../program.js';

const PROBE = join(import.meta.dirname, 'probe.mjs');

/** What the process says of itself. */
export interface Vitals {
  /** The longest turn of the event loop since the last question, in CPU time, and the requests around it. */
  readonly longest: { readonly cpuMs: number; readonly requests: readonly string[] };
  /** What is still referred to, after a garbage collection. */
  readonly heldBytes: number;
  readonly residentBytes: number;
}

export interface ProbedProgram extends Program {
  readonly vitals: () => Promise<Vitals>;
}

/** The reference server with a probe in it. `folder` is one of its own. */
export async function startProbed(args: readonly string[], folder: string): Promise<ProbedProgram> {
  const socket = join(folder, 'probe');
  const program = await startProgram(args, { NODE_OPTIONS: `--import=${PROBE}`, FUZZ_PROBE_SOCKET: socket });
  return { ...program, vitals: async () => JSON.parse(await text(connect(socket))) as Vitals };
}
