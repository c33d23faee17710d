import type { RequestOf, ServerActionName } from '@apistrata/compute-engine/actions';
import type { Operation } from '@apistrata/microversion/router';
import { object } from '@apistrata/microversion/schema';
import type { z } from 'zod';
import { type OperationTexts, operation } from '../../operation.js';
import type { RuleName } from '../../policy/index.js';
import * as type from '../../schemas/types.js';
import { serverById } from './target.js';

/** Actions that need no arguments. */
type PlainActionName = {
  [Name in ServerActionName]: RequestOf<Name> extends void ? Name : never;
}[ServerActionName];

interface PlainAction extends OperationTexts, Pick<Operation, 'window' | 'summary' | 'errors' | 'when'> {
  readonly parameters: { readonly id: string };
  readonly action: PlainActionName;
  readonly policy: RuleName;
  /** Default: 202. */
  readonly status?: number;
  /** Schema of the action's value. Default: any value. */
  readonly argument?: z.ZodType;
}

/** Creates the operation of an action that needs no arguments: `{"pause": null}`. */
export function plainAction({ action, argument = type.anything, ...rest }: PlainAction): Operation {
  return operation({
    method: 'POST',
    path: '/servers/{id}/action',
    action,
    status: 202,
    ...rest,
    body: object({ [action]: argument }),
    target: serverById,
    run: async ({ engine, context, target }) => {
      await engine.servers.act(context, target.id, action);
    },
  });
}
