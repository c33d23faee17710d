import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import type { Resource } from '../service/resource.js';
import { post, Reply, type Route } from '../service/route.js';
import { badRequest, ServiceError } from '../service/service-error.js';
import { isObject } from '../service/wire.js';
import { requirePolicy } from './policies.js';
import { requireMinor } from './volume-style.js';

/** An action of a resource type. */
export interface Action<T, S extends z.ZodType = z.ZodType> {
  /** The schema of the arguments; default: any arguments. */
  readonly schema?: S;
  /** The response status; default: 202. */
  readonly status?: number;
  /** The role that the action requires; default: `member`. */
  readonly role?: 'reader' | 'admin';
  /** The name of the policy; default: derived from the resource type and the action. */
  readonly policy?: string;
  /** The minor version that introduced the action; default: 0. */
  readonly since?: number;
  /** Executes the action and returns the response body. */
  readonly run: (call: Call, resource: T, args: z.infer<S>) => unknown;
}

export type Actions<T> = Readonly<Record<string, Action<T>>>;

/** Defines an action with arguments. */
export const defineAction = <T, S extends z.ZodType>(
  schema: S,
  run: Action<T, S>['run'],
  options: Omit<Action<T>, 'schema' | 'run'> = {},
) => ({ schema, run, ...options }) as Action<T>;

/** Returns the case-insensitive schema of a status. */
export const statusSchema = (what: string, ...values: readonly string[]) =>
  z
    .string()
    .toLowerCase()
    .refine((status) => values.includes(status), {
      error: ({ input }) =>
        `${what} status: ${input} is invalid, valid statuses are: (${values.map((one) => `'${one}'`).join(', ')}).`,
    });

/** Defines the action that resets the status of a group or a group snapshot. */
export const resetStatusAction = (what: string, resource: Resource, since: number, policy: string): Action<Doc> =>
  defineAction(
    z.strictObject({
      status: statusSchema(
        what,
        ...['error', 'available', 'creating', 'deleting', 'deleted', 'updating', 'error_deleting'],
      ),
    }),
    async (call, before, { status }) => void (await resource.apply(call, before, { status })),
    { role: 'admin', policy, since },
  );

/** Returns the name of an action's policy. */
function policyFor(path: string, name: string, { role, policy }: Action<never>): string {
  const [collection = ''] = path.split('/', 1);
  const set = `${collection.slice(0, -1)}_${role === 'admin' ? 'admin_' : ''}actions`;
  return policy ?? `volume_extension:${set}:${name.replace(/^os-/, '')}`;
}

/** Returns the route for a resource's actions. The only key in a request body is the name of the action. */
export const createActionRoute = <T>(
  path: string,
  find: (call: Call, args: unknown) => T | Promise<T>,
  actions: Actions<T>,
): Route =>
  post(`/v3/${path}/action`, async (call) => {
    const content: unknown = call.req.body;
    const [[name, args] = [], ...others] = isObject(content) ? Object.entries(content) : [];
    if (name === undefined || others.length > 0) throw badRequest('Malformed request body');
    const knownAction = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!knownAction) {
      const message = `There is no such action: ${name}. Verify the request body and Content-Type header and try again.`;
      throw new ServiceError(400, message, 'BadRequest', name);
    }
    requireMinor(call, knownAction.since);
    const parsedArguments = (knownAction.schema ?? z.unknown()).safeParse(args);
    if (!parsedArguments.success) {
      const [issue] = parsedArguments.error.issues;
      throw badRequest(`${issue?.code === 'custom' ? '' : `Invalid input for ${name}: `}${issue?.message}`);
    }
    const resource = await find(call, parsedArguments.data);
    requirePolicy(call, policyFor(path, name, knownAction), knownAction.role ?? 'member');
    return new Reply(knownAction.status ?? 202, await knownAction.run(call, resource, parsedArguments.data));
  });
