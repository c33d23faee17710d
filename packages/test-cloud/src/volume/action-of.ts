import type { z } from 'zod';
import type { Call } from '../service/call.js';
import { badRequest } from '../service/service-error.js';

/** Returns the name of the action, which is the only key of the body, and a function that validates its arguments. */
export function actionOf(call: Call) {
  const content: unknown = call.req.body;
  const isObject = typeof content === 'object' && content !== null && !Array.isArray(content);
  const [name, ...others] = isObject ? Object.keys(content) : [];
  if (name === undefined || others.length > 0) throw badRequest('The body must contain exactly one known action.');
  return {
    name,
    body<T>(schema: z.ZodType<T>): T {
      const checked = schema.safeParse((content as Record<string, unknown>)[name]);
      if (checked.success) return checked.data;
      throw badRequest(`Invalid input for ${name}: ${checked.error.issues[0]?.message}`);
    },
  };
}
