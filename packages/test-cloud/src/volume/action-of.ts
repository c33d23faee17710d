import type { z } from 'zod';
import type { Call } from '../service/call.js';
import { badRequest } from '../service/service-error.js';

/** Returns the action that a body names by its only key, and its validated arguments. */
export function actionOf(call: Call) {
  const given: unknown = call.req.body;
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  const [name, ...others] = isObject ? Object.keys(given) : [];
  if (name === undefined || others.length > 0) throw badRequest('The body must contain exactly one known action.');
  return {
    name,
    body<T>(schema: z.ZodType<T>): T {
      const checked = schema.safeParse((given as Record<string, unknown>)[name]);
      if (checked.success) return checked.data;
      throw badRequest(`Invalid input for ${name}: ${checked.error.issues[0]?.message}`);
    },
  };
}
