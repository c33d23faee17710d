import { z } from 'zod';

/** Schema for an identifier in a query string: any string without NUL characters. */
export const idText = z.string().refine((text) => !text.includes('\0'), { message: 'NUL is not legal' });
