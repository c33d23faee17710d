import type { Acceleration } from '../programs/acceleration.js';
import { type RunAs, runProgram } from '../programs/run-program.js';
import type { CpuProperties } from './guest-cpu.js';

const QUERY_TIMEOUT_MS = 20_000;

/** The QEMU program to query for CPU models. */
export interface QueriedProgram {
  readonly program: string;
  readonly acceleration: Acceleration;
  readonly runAs: RunAs | undefined;
}

/** A CPU model that QEMU supports. */
export interface CpuDefinition {
  readonly name: string;
  /** The model's CPU features that this computer cannot provide. */
  readonly 'unavailable-features'?: readonly string[];
}

/** QEMU's response to a QMP command. */
interface QmpResponse {
  readonly return?: unknown;
  readonly error?: { readonly desc: string };
}

/** A QMP command. */
interface QmpCommand {
  readonly execute: string;
  readonly arguments?: object;
}

/** Starts QEMU without a virtual machine, executes QMP commands, and returns the responses. */
async function queryQemu(
  { program, acceleration, runAs }: QueriedProgram,
  commands: readonly QmpCommand[],
): Promise<readonly QmpResponse[]> {
  const allCommands = [{ execute: 'qmp_capabilities' }, ...commands, { execute: 'quit' }];
  const args = ['-nodefaults', '-no-user-config', '-machine', `none,accel=${acceleration}`, '-display', 'none', '-S'];
  const output = await runProgram(program, [...args, '-qmp', 'stdio'], {
    runAs,
    timeoutMs: QUERY_TIMEOUT_MS,
    input: allCommands.map((command) => `${JSON.stringify(command)}\n`).join(''),
  });
  return parseResponses(output).slice(1, commands.length + 1);
}

/** Returns the command responses in QEMU's output, without the greeting and events. */
function parseResponses(output: string): readonly QmpResponse[] {
  const lines = output.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  return lines.filter((line) => 'return' in line || 'error' in line);
}

/** Returns the QMP command that describes a CPU model with changed properties. */
function createExpansionCommand(name: string, props: CpuProperties): QmpCommand {
  return { execute: 'query-cpu-model-expansion', arguments: { type: 'static', model: { name, props } } };
}

/** Returns all properties in QEMU's description of a CPU model. @throws Error with QEMU's message */
function parseProperties(response: QmpResponse | undefined): CpuProperties {
  if (response?.error) throw new Error(response.error.desc);
  const props = (response?.return as { model?: { props?: CpuProperties } } | undefined)?.model?.props;
  if (!props) throw new Error(`QEMU does not describe its CPU models: ${JSON.stringify(response)}`);
  return props;
}

/** Returns all properties of a CPU model after changing some of them. @throws Error with QEMU's message */
export async function queryCpuProperties(
  queriedProgram: QueriedProgram,
  model: string,
  changes: CpuProperties,
): Promise<CpuProperties> {
  return parseProperties((await queryQemu(queriedProgram, [createExpansionCommand(model, changes)]))[0]);
}

/** Returns the CPU models that QEMU supports, and all properties of the given one. */
export async function queryCpuModels(
  queriedProgram: QueriedProgram,
  model: string,
): Promise<{ readonly definitions: readonly CpuDefinition[]; readonly properties: CpuProperties }> {
  const [models, description] = await queryQemu(queriedProgram, [
    { execute: 'query-cpu-definitions' },
    createExpansionCommand(model, {}),
  ]);
  if (!Array.isArray(models?.return))
    throw new Error(`QEMU does not list its CPU models: ${String(JSON.stringify(models)).slice(0, 1_000)}`);
  return { definitions: models.return, properties: parseProperties(description) };
}
