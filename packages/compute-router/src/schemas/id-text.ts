import { z } from 'zod';

/** Text that names something in a query string: anything but what no name can hold. */
export const idText = z.string().refine((text) => !text.includes('\0'), { message: 'NUL is not legal' });
