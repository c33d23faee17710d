import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Acceleration } from '../programs/acceleration.js';
import { type CpuOptions, parseCpuOptions } from './cpu-options.js';
import { cpuArgument, type GuestCpu } from './guest-cpu.js';
import { HostCpus } from './host-cpus.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-cpus-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Models = Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>>;

const NONE = { vendor: 'Maker', family: 6, aes: false, avx: false, 'sse4.2': false, topoext: false };
const OLD = { ...NONE, 'sse4.2': true };
const NEW = { ...OLD, aes: true };
/** Models of a QEMU program; `topoext` is a feature that no full model has. */
const MODELS: Models = { base: NONE, qemu64: NONE, Old: OLD, New: NEW, Newest: { ...NEW, avx: true } };

let programs = 0;

/** A program that describes CPU models as QEMU does. @param full the features of the computer */
function fakeQemu(full: Models[string], models: Models = MODELS, provided: readonly string[] = []): string {
  const path = join(folder, `qemu-${programs++}`);
  const all = { max: full, host: full, ...models };
  const text = `#!${process.execPath}
    const all = ${JSON.stringify(all)};
    const isMissing = ([name, value]) => value === true && !all.max[name] && !${JSON.stringify(provided)}.includes(name);
    const missing = (name) => Object.entries(all[name]).filter(isMissing).map(([name]) => name);
    const define = (name) => ({ name, 'unavailable-features': missing(name) });
    const run = ({ execute, arguments: given }) => {
      if (execute === 'query-cpu-definitions') return { return: Object.keys(all).map(define) };
      if (execute !== 'query-cpu-model-expansion') return { return: {} };
      const { name, props } = given.model;
      const props2 = { ...all[name], ...props };
      return all[name] ? { return: { model: { name: 'base', props: props2 } } } : { error: { desc: name + ' not found' } };
    };
    console.log('{"QMP": {}}');
    require('node:fs').readFileSync(0, 'utf8').trim().split('\\n')
      .forEach((line) => console.log(JSON.stringify(run(JSON.parse(line)))));`;
  writeFileSync(path, text, { mode: 0o755 });
  return path;
}

function open(program: string, options: CpuOptions = {}, acceleration: Acceleration = 'kvm'): Promise<HostCpus> {
  return HostCpus.open({ program, acceleration, runAs: undefined }, parseCpuOptions('x', options));
}

const custom = (cpuModel: string, ...cpuFeatures: readonly string[]): CpuOptions => ({
  cpuMode: 'custom',
  cpuModel,
  cpuFeatures,
});

describe('the CPU of guests', () => {
  it('cannot be determined if QEMU exits without a response', async () => {
    const program = join(folder, 'silent');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    await expect(open(program)).rejects.toThrow('QEMU does not list its CPU models: undefined');
  });

  it('is that of the host with KVM, and the one that QEMU emulates with TCG', async () => {
    const program = fakeQemu(NEW);
    const visible = { vendor: 'Maker', family: 6, 'sse4.2': true, aes: true };
    const { guest } = await open(program);
    expect(guest).toEqual({ mode: 'host-passthrough', model: 'host', properties: {}, visible });
    expect((await open(program, {}, 'tcg')).guest.model).toBe('max');
    const without = (await open(program, { cpuFeatures: ['-aes'] })).guest;
    expect([cpuArgument(without), without.visible?.aes]).toEqual(['host,aes=off', undefined]);
  });

  it('is an explicit list of features in the mode host-model', async () => {
    const { guest } = await open(fakeQemu({ ...NEW, 'model-id': 'A, B' }), { cpuMode: 'host-model' });
    expect(cpuArgument(guest)).toBe('base,vendor=Maker,family=6,aes=on,sse4.2=on,model-id=A  B,enforce');
  });

  it('is a model with some features enabled or disabled in the mode custom', async () => {
    const program = fakeQemu(NEW);
    expect(cpuArgument((await open(program, custom('Old', '+AES', '-sse4_2'))).guest)).toBe(
      'Old,aes=on,sse4.2=off,enforce',
    );
    // A feature that the full model does not have, although QEMU lists it as available in another model.
    const models = { ...MODELS, Other: { ...OLD, topoext: true } };
    expect((await open(fakeQemu(NEW, models, ['topoext']), custom('Other'))).guest.visible?.topoext).toBe(true);
  });

  it.each([
    [custom('Odd'), 'QEMU does not have the CPU model Odd (cpuModel): this computer can provide New, Old, qemu64'],
    [
      custom('Newest'),
      'this computer cannot provide the CPU model Newest, because it lacks avx. Switch these features off (cpuFeatures), or use another model: this computer can provide New, Old, qemu64',
    ],
    [
      custom('Old', 'avx'),
      'this computer cannot provide the CPU features avx (cpuFeatures). Available features: aes, sse4.2',
    ],
    [
      { cpuFeatures: ['nonsense'] },
      'QEMU does not have the CPU feature nonsense (cpuFeatures). Features that this computer can provide: aes, sse4.2',
    ],
  ])('is rejected if the host cannot provide it: %j', async (options, message) => {
    await expect(open(fakeQemu(NEW), options)).rejects.toMatchObject({ code: 'CPU_UNAVAILABLE', message });
  });

  it('is rejected with the output of a QEMU that does not support the query', async () => {
    const path = join(folder, 'ancient');
    writeFileSync(path, `#!/bin/sh\ncat >/dev/null\nprintf '{"return": {}}\\n{"error": {"desc": "unknown"}}\\n'\n`, {
      mode: 0o755,
    });
    await expect(open(path)).rejects.toThrow('QEMU does not list its CPU models: {"error":{"desc":"unknown"}}');
  });
});

describe('a guest of another host', () => {
  const guestOf = async (program: string, options: CpuOptions = {}) => (await open(program, options)).guest;
  const against = async (guest: GuestCpu, program: string, options: CpuOptions = {}, kind: Acceleration = 'kvm') =>
    (await open(program, options, kind)).findObstacle(guest, 'h2');
  const MISSING_AES = "Host h2 does not provide features of the guest's CPU: aes.";

  it('can move to a host that provides its model, regardless of the model that guests get there', async () => {
    const guest = await guestOf(fakeQemu(NEW), custom('Old'));
    expect(await against(guest, fakeQemu(OLD))).toBeNull();
    expect(await against(guest, fakeQemu({ ...NEW, avx: true }), custom('Newest'))).toBeNull();
  });

  it('can move with an explicit list of features to a host with more features', async () => {
    const guest = await guestOf(fakeQemu(OLD), { cpuMode: 'host-model' });
    expect(await against(guest, fakeQemu({ ...NEW, vendor: 'Other' }))).toBeNull();
    expect(await against(await guestOf(fakeQemu(NEW), { cpuMode: 'host-model' }), fakeQemu(OLD))).toBe(MISSING_AES);
  });

  it('cannot move to a host that lacks features of its model, or whose administrator has disabled them', async () => {
    const guest = await guestOf(fakeQemu(NEW), custom('New'));
    expect(await against(guest, fakeQemu(OLD))).toBe(MISSING_AES);
    expect(await against(guest, fakeQemu(NEW), custom('Old', '-aes'))).toBe(MISSING_AES);
    expect(await against(await guestOf(fakeQemu(NEW), custom('Old')), fakeQemu(NEW), custom('Old', '-aes'))).toBeNull();
  });

  it('cannot move to a host with another CPU if it sees the CPU of its own host', async () => {
    const guest = await guestOf(fakeQemu(NEW));
    expect(await against(guest, fakeQemu(NEW), custom('Old'))).toBeNull();
    expect(await against(guest, fakeQemu(OLD))).toBe(MISSING_AES);
    const differs = 'With the CPU mode host-passthrough, the guest CPU on host h2 differs in';
    expect(await against(guest, fakeQemu({ ...NEW, avx: true }))).toBe(`${differs} avx.`);
    expect(await against(guest, fakeQemu({ ...NEW, vendor: 'Other' }))).toBe(`${differs} vendor.`);
  });

  it('cannot move to a host whose QEMU does not have its model, or defines the model differently', async () => {
    const guest = await guestOf(fakeQemu(NEW), custom('Old'));
    const { Old: _, ...models } = MODELS;
    expect(await against(guest, fakeQemu(NEW, models))).toBe('QEMU on host h2 does not have the CPU model Old.');
    const changed = { ...MODELS, Old: { ...OLD, family: 7 } };
    expect(await against(guest, fakeQemu(NEW, changed))).toBe(
      'With the CPU mode custom, the guest CPU on host h2 differs in family.',
    );
  });

  it('can move if an earlier version of this package started it, because its CPU is unknown', async () => {
    const guest = await guestOf(fakeQemu(NEW));
    expect(await against({ ...guest, visible: null }, fakeQemu(OLD))).toBeNull();
  });
});

const QEMU = '/usr/bin/qemu-system-x86_64';

describe.skipIf(!existsSync(QEMU))('the CPU models of the installed QEMU', () => {
  it('include the levels of the ABI up to v2, and unversioned models', async () => {
    const cpus = await open(QEMU, custom('x86-64-v2-AES', '-popcnt'), 'tcg');
    expect(cpuArgument(cpus.guest)).toMatch(
      /^qemu64,popcnt=off,ssse3=on,sse4\.1=on,sse4\.2=on,svm=off,aes=on,enforce$/,
    );
    expect(cpus.guest.visible).toMatchObject({ aes: true, cx16: true, 'lahf-lm': true });
    await expect(open(QEMU, custom('Nehalen'), 'tcg')).rejects.toThrow(/can provide .*Nehalem, .*x86-64-v2, /);
  });

  it('can be compared and expanded', async () => {
    const old = await open(QEMU, custom('Nehalem', '-aes'), 'tcg');
    const westmere = (await open(QEMU, custom('Westmere'), 'tcg')).guest;
    expect(await old.findObstacle(westmere, 'h2')).toBe("Host h2 does not provide features of the guest's CPU: aes.");
    const spelled = (await open(QEMU, { cpuMode: 'host-model' }, 'tcg')).guest;
    expect(await (await open(QEMU, {}, 'tcg')).findObstacle(spelled, 'h2')).toBeNull();
    expect(await old.findObstacle({ ...spelled, mode: 'host-passthrough', model: 'host' }, 'h2')).toBe(
      'The guest has the CPU of a host with KVM, but host h2 does not use KVM.',
    );
  });
});
