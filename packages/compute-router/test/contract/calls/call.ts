import type { Cloud } from '../cloud.js';

/** A successful call of an operation. */
export interface Call {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly query?: string;
  /** Cleans up after the call. */
  readonly after?: () => Promise<void>;
}

/** Creates what an operation needs at a version, and returns the call. */
export type Prepare = (cloud: Cloud, version: string) => Promise<Call> | Call;

/** Returns whether a version is the one with this number or later. */
export const from = (version: string, first: number) => Number(version.split('.')[1]) >= first;

export const nothing: Prepare = () => ({});
export const withServer: Prepare = async (cloud) => ({ params: { id: (await cloud.server()).id } });
export const withParent: Prepare = async (cloud) => ({ params: { server_id: (await cloud.server()).id } });

/** Calls with the id of a resource that is created for it. */
export const id = (make: (cloud: Cloud, version: string) => Promise<string>): Prepare => {
  return async (cloud, version) => ({ params: { id: await make(cloud, version) } });
};

/** The same with a body. */
export const withBody = (prepare: Prepare, body: unknown): Prepare => {
  return async (cloud, version) => ({ ...(await prepare(cloud, version)), body });
};

/** Calls with an existing id. */
export const named =
  (value: string): Prepare =>
  () => ({ params: { id: value } });
