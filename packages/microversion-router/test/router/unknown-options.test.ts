import { expect, it } from 'vitest';
import { openApi } from '../../src/documents/index.js';
import { createRouter } from '../../src/router/router.js';

it('rejects options that a router and a document do not have', () => {
  expect(() => createRouter({ operations: [], validateReply: true } as never)).toThrow(
    "createRouter: unknown option 'validateReply' (known: operations, call, ",
  );
  expect(() => openApi([], { title: 'API', version: '1.0', server: 'http://api' } as never)).toThrow(
    "openApi: unknown option 'server' (known: title, description, serverUrl, ",
  );
});
