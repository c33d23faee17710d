import { z } from 'zod';

/** An identifier in a query string: any string without NUL. */
export const idText = z.string().refine((text) => !text.includes('\0'), { message: 'NUL is not legal' });
