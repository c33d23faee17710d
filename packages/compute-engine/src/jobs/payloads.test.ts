import { describe, expect, it } from 'vitest';
import { generateSecretKey, Sealer } from '../secrets/sealer.js';
import { Payloads } from './payloads.js';

const caller = { userId: 'ada', projectId: 'p1', roles: ['member'], token: 'planted-token' };
const context = { caller, requestId: 'req-1', isAdmin: false };
const args = { adminPassword: 'planted-password' };
const { token: _, ...withoutToken } = caller;
const sealer = new Sealer([generateSecretKey()]);

describe('the payload of a job', () => {
  it('keeps the sealed token if services are called on behalf of the caller', () => {
    const payloads = new Payloads(sealer, { keepTokens: true });
    const written = payloads.write('job-1', { context, arguments: args });
    expect(written).not.toContain('planted');
    expect(JSON.parse(written).context).toEqual({ ...context, caller: withoutToken });
    expect(payloads.read('job-1', written)).toEqual({ payload: { context, arguments: args } });
  });

  it('omits the token otherwise', () => {
    for (const seals of [sealer, undefined]) {
      const payloads = new Payloads(seals, { keepTokens: false });
      const written = payloads.write('job-1', { context, arguments: {} });
      expect(written).not.toContain('planted');
      const known = { ...context, caller: withoutToken };
      expect(payloads.read('job-1', written)).toEqual({ payload: { context: known, arguments: {} } });
    }
  });

  it('reports the caller, and why the rest cannot be read', () => {
    const written = new Payloads(sealer, { keepTokens: true }).write('job-1', { context, arguments: args });
    for (const other of [new Sealer([generateSecretKey()]), undefined]) {
      const read = new Payloads(other, { keepTokens: true }).read('job-1', written);
      expect(read.payload).toEqual({ context: { ...context, caller: withoutToken }, arguments: {} });
      expect(read.unreadable).toBeInstanceOf(Error);
    }
  });

  it('is readable if it was stored before payloads were sealed', () => {
    const written = JSON.stringify({ context, arguments: args });
    expect(new Payloads(sealer, { keepTokens: true }).read('job-1', written)).toEqual({
      payload: { context, arguments: args },
    });
  });
});
