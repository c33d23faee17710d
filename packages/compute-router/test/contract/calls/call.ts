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

/** Returns whether a version's minor number is at least `first`. */
export const from = (version: string, first: number) => Number(version.split('.')[1]) >= first;

export const nothing: Prepare = () => ({});
export const withServer: Prepare = async (cloud) => ({ params: { id: (await cloud.server()).id } });
export const withConnected: Prepare = async (cloud) => ({ params: { id: (await cloud.connected()).id } });
export const withParent: Prepare = async (cloud) => ({ params: { server_id: (await cloud.server()).id } });
export const withConnectedParent: Prepare = async (cloud) => ({ params: { server_id: (await cloud.connected()).id } });

/** Creates a resource, and calls the operation with its id. */
export const id = (make: (cloud: Cloud, version: string) => Promise<string>): Prepare => {
  return async (cloud, version) => ({ params: { id: await make(cloud, version) } });
};

/** Adds a body to a call. */
export const withBody = (prepare: Prepare, body: unknown): Prepare => {
  return async (cloud, version) => ({ ...(await prepare(cloud, version)), body });
};

/** Calls the operation with the id of an existing resource. */
export const named =
  (value: string): Prepare =>
  () => ({ params: { id: value } });
