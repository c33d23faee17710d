import { z } from 'zod';
import { strictFlag } from '../service/wire-types.js';

const areUnique = (values: readonly unknown[]) =>
  new Set(values.map((value) => JSON.stringify(value))).size === values.length;
const uniqueList = <T extends z.ZodType>(element: T) => z.array(element).refine(areUnique, 'has non-unique elements');

/** The options of a user. A null value removes an option. */
export const UserOptions = z.strictObject({
  ignore_change_password_upon_first_use: strictFlag.nullish(),
  ignore_password_expiry: strictFlag.nullish(),
  ignore_lockout_failure_attempts: strictFlag.nullish(),
  lock_password: strictFlag.nullish(),
  ignore_user_inactivity: strictFlag.nullish(),
  multi_factor_auth_rules: uniqueList(uniqueList(z.string()).min(1)).nullish(),
  multi_factor_auth_enabled: strictFlag.nullish(),
});
export type UserOptions = z.infer<typeof UserOptions>;
