import type { RequestOf, ServerActionName } from '@apistrata/compute-engine/actions';
import { object } from '@apistrata/microversion/schema';
import type { Operation } from '@apistrata/microversion-router';
import type { z } from 'zod';
import { type OperationTexts, operation } from '../../operation.js';
import type { RuleName } from '../../policy/index.js';
import * as type from '../../schemas/types.js';
import { serverAction } from './server-docs.js';

/** The name of an engine action without arguments. */
type PlainActionName = {
  [Name in ServerActionName]: RequestOf<Name> extends void ? Name : never;
}[ServerActionName];

interface PlainAction extends Omit<OperationTexts, 'tag'>, Pick<Operation, 'window' | 'summary' | 'errors' | 'when'> {
  readonly action: PlainActionName;
  readonly policy: RuleName;
  /** Status of a successful response. Default: 202. */
  readonly status?: number;
  /** Schema for the action's value in the request body. Default: any value. */
  readonly argument?: z.ZodType;
}

/** Defines the operation for a server action without arguments, such as `{"pause": null}`. */
export function plainAction({ action, argument = type.anyValue, ...rest }: PlainAction): Operation {
  return operation({
    ...serverAction,
    action,
    ...rest,
    body: object({ [action]: argument }),
    run: async ({ engine, context, target }) => {
      await engine.servers.act(context, target.id, action);
    },
  });
}
