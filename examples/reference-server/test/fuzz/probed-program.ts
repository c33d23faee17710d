import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Program, startProgram } from '../program.js';

const PROBE = join(import.meta.dirname, 'probe.mjs');

/** The measurements that the process reports. */
export interface ProcessFigures {
  /** The CPU time of the longest event loop iteration since the last report, and the last requests before its end. */
  readonly longest: { readonly cpuMs: number; readonly requests: readonly string[] };
  /** Bytes that are still referenced after a garbage collection. */
  readonly usedBytes: number;
  readonly residentBytes: number;
}

export interface ProbedProgram extends Program {
  readonly figures: () => Promise<ProcessFigures>;
}

/** Starts the reference server with the probe. Only one server may use `folder`. */
export async function startProbed(args: readonly string[], folder: string): Promise<ProbedProgram> {
  const socket = join(folder, 'probe');
  const program = await startProgram(args, { NODE_OPTIONS: `--import=${PROBE}`, FUZZ_PROBE_SOCKET: socket });
  return { ...program, figures: async () => JSON.parse(await text(connect(socket))) as ProcessFigures };
}
