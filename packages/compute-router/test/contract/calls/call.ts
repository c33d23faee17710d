import type { Cloud } from '../cloud.js';

/** How to call an operation so that it succeeds. */
export interface Call {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly query?: string;
  /** What has to be done once the call has been made. */
  readonly after?: () => Promise<void>;
}

/** Makes what an operation needs at a version, and tells how to call it then. */
export type Prepare = (cloud: Cloud, version: string) => Promise<Call> | Call;

/** Whether a version is the one with this number, or a later one. */
export const from = (version: string, first: number) => Number(version.split('.')[1]) >= first;

export const nothing: Prepare = () => ({});
export const withServer: Prepare = async (cloud) => ({ params: { id: (await cloud.server()).id } });
export const withParent: Prepare = async (cloud) => ({ params: { server_id: (await cloud.server()).id } });

/** Calls with the id of what is made for it. */
export const id = (make: (cloud: Cloud, version: string) => Promise<string>): Prepare => {
  return async (cloud, version) => ({ params: { id: await make(cloud, version) } });
};

/** The same with a body. */
export const withBody = (prepare: Prepare, body: unknown): Prepare => {
  return async (cloud, version) => ({ ...(await prepare(cloud, version)), body });
};

/** Calls with an id that is there already. */
export const named =
  (value: string): Prepare =>
  () => ({ params: { id: value } });
