import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { post, type Route } from '../service/route.js';
import { notFound, ServiceError } from '../service/service-error.js';
import { authorize } from './authorize.js';
import { findCredentialByKey } from './credential-resources.js';
import { equalInConstantTime } from './equal-in-constant-time.js';
import { tokenView } from './token-view.js';

const S3Credentials = z.object({
  credentials: z.object({ access: z.string(), signature: z.string(), token: z.string() }),
});
const unauthorized = (message: string) => new ServiceError(401, message, 'Unauthorized');
const SIGNED_SERVICES = ['s3', 'iam', 'sts'];

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** Returns the AWS signature (version 2 or 4) of a string to sign; undefined if a version 4 string is malformed. */
function awsSignature(text: string, secret: string): string | undefined {
  if (!text.startsWith('AWS4')) return createHmac('sha1', secret).update(text).digest('base64');
  const [algorithm, , scope, digest, ...extraLines] = text.split('\n');
  const [date = '', region = '', service = '', end, ...rest] = (scope ?? '').split('/');
  const isWellFormed = digest !== undefined && end === 'aws4_request' && extraLines.length + rest.length === 0;
  if (algorithm !== 'AWS4-HMAC-SHA256' || !isWellFormed || !SIGNED_SERVICES.includes(service)) return undefined;
  const key = [region, service, end].reduce<Buffer>(hmac, hmac(`AWS4${secret}`, date));
  return hmac(key, text).toString('hex');
}

/** Returns the route that verifies the signature of an object store request and issues a token. */
export function s3TokenRoutes(): readonly Route[] {
  return [
    post('/v3/s3tokens', (call: Call) => {
      const { directory } = call.cloud;
      authorize(call, 's3tokens_validate');
      const { access, signature, token: encodedStringToSign } = call.body(S3Credentials).credentials;
      const credential = findCredentialByKey(call, access);
      if (!credential) throw notFound('EC2 access key not found.');
      const { secret } = JSON.parse(String(credential.blob)) as { secret?: unknown };
      const expectedSignature = awsSignature(
        Buffer.from(encodedStringToSign, 'base64url').toString('utf8'),
        String(secret),
      );
      if (expectedSignature === undefined || !equalInConstantTime(expectedSignature, signature))
        throw unauthorized('Credential signature mismatch');
      const userId = String(credential.user_id);
      const scope = { kind: 'project', id: String(credential.project_id) } as const;
      const roleIds = directory.roleIdsOf(userId, scope);
      if (roleIds.length === 0) throw unauthorized('The user has no role in the project of the credential.');
      const issuedToken = directory.issueToken({ userId, scope, roleIds, methods: ['ec2credential'] });
      return { token: tokenView(call.cloud, issuedToken, call.cloudBase) };
    }),
  ];
}
