import { Rejection } from '@apistrata/compute-engine';
import { since, until } from '@apistrata/microversion';
import { described, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../operation.js';
import { commonTexts } from '../reference/common-texts.js';
import { serverConsoleDocs } from './servers/consoles.js';

const tokenQuery = query({}, { extra: [until('2.98', 'ignore'), since('2.99', 'reject')] });

const showTokenDefinition = {
  ...serverConsoleDocs,
  name: 'showConsoleAuthToken',
  description:
    'Shows how to connect to the console that a token belongs to. Console proxies use this operation. Until 2.30, it always returns 400, because it supports only RDP consoles, which were removed.',
  when: {
    400: 'The token is missing, or is not a console token.',
    401: 'Until 2.30, the token does not belong to an RDP console.',
    404: 'The token is unknown or has expired.',
  },
} as const;

export const consoleAuthTokens = [
  operation({
    ...showTokenDefinition,
    method: 'GET',
    path: '/os-console-auth-tokens/{id}',
    window: until('2.30', true),
    summary: 'Show the connection data of an RDP console token (removed)',
    policy: 'os_compute_api:os-console-auth-tokens',
    status: 200,
    errors: [400, 401, 404],
    query: tokenQuery,
    run: () => {
      throw new Rejection('BAD_REQUEST', 'Console tokens cannot be looked up at this version.');
    },
  }),
  operation({
    ...showTokenDefinition,
    method: 'GET',
    path: '/os-console-auth-tokens/{id}',
    window: since('2.31', true),
    summary: 'Show the connection data of a console token',
    policy: 'os_compute_api:os-console-auth-tokens',
    status: 200,
    errors: [400, 404],
    query: tokenQuery,
    reply: {
      console: described('Connection data for the console.', {
        instance_uuid: described(commonTexts.serverUuid, z.string()),
        host: described('IP address of the host on which the console listens.', z.string().nullable()),
        port: described('TCP port on which the console listens.', z.int()),
        internal_access_path: described(
          'Data that the proxy sends to the host when it connects, or null.',
          z.string().nullable(),
        ),
        tls_port: since(
          '2.99',
          described(
            'TCP port on which the console listens for TLS connections, or null.',
            z.int().nullable().optional(),
          ),
        ),
      }),
    },
    run: async ({ engine, params }) => {
      const { serverId, host, port, internalAccessPath, type, tlsPort } = await engine.consoles.resolve(params.id);
      return {
        console: {
          instance_uuid: serverId,
          host,
          port,
          internal_access_path: internalAccessPath,
          tls_port: type === 'spice-direct' ? tlsPort : undefined,
        },
      };
    },
  }),
];
