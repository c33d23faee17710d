import { defaultPreset } from '@apistrata/compute-engine';
import type { ManualClock } from '@apistrata/compute-engine/testing';
import { type Api, apiUnderTest } from '../api-under-test.js';

export const BEGIN = Date.parse('2026-01-31T22:58:00Z');
export const flavors = [
  { id: '1', name: 'one', vcpus: 1, memoryMb: 512, diskGb: 1 },
  { id: '2', name: 'two', vcpus: 2, memoryMb: 333, diskGb: 20, ephemeralGb: 7 },
  { id: '3', name: 'three', vcpus: 3, memoryMb: 4097, diskGb: 2 },
];
const unlimited = { quotas: { instances: -1, cores: -1, ram: -1 } } as never;

/** Formats a time in seconds after the start as queries and responses contain it. */
export const text = (seconds: number) => new Date(BEGIN + seconds * 1000).toISOString().slice(0, 19);

/** Starts an API with these flavors, without quotas, and with at most 50 items per page. */
export function usageApi(clock: ManualClock): Promise<Api> {
  return apiUnderTest({
    engine: { clock, settings: unlimited },
    preset: { ...defaultPreset, flavors },
    router: { maxLimit: 50 },
  });
}
