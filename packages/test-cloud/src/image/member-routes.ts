import type { ImageMember, ImageRecord } from '@apistrata/compute-engine/catalogs';
import type { Call } from '../service/call.js';
import { ifMissing } from '../service/if-missing.js';
import { del, get, noContent, post, put, type Route } from '../service/route.js';
import { badRequest, conflict, forbidden, notFound } from '../service/service-error.js';
import { checkCount } from './image-attributes.js';
import { memberView } from './image-view.js';
import { requirePolicy } from './policies.js';
import { requireObject } from './schema-check.js';
import { withoutBody } from './without-body.js';

const path = '/v2/images/:id/members';
const MEMBER_STATUSES = ['pending', 'accepted', 'rejected'] as const;

const catalog = (call: Call) => call.cloud.catalogs.images;

/** Returns a required field of the request body. */
function requiredField(call: Call, key: string, missing: string): unknown {
  const body = requireObject(call.req.body);
  if (!Object.hasOwn(body, key)) throw badRequest(missing);
  return body[key];
}

/** Returns the image in the path. Throws a 404 error if the caller cannot see it, or `rejected` if it is not shared. */
async function findSharedImage(call: Call, rejected: (reason: string) => Error): Promise<ImageRecord> {
  const image = await catalog(call).get(call.caller, call.param('id')).catch(ifMissing);
  if (!image || !call.hasRole('reader')) throw notFound(`Image ${call.param('id')} not found.`);
  if (image.visibility !== 'shared') throw rejected('Only shared images have members.');
  return image;
}

async function findMember(call: Call, { id }: ImageRecord): Promise<ImageMember> {
  const members = await catalog(call).listMembers(call.caller, id);
  const name = call.param('member');
  const member = members.find(({ projectId }) => projectId === name);
  if (!member) throw notFound(`${name} not found in the member list of the image ${id}.`);
  return member;
}

/** The routes for image members: the projects with which an image is shared. */
export function memberRoutes(): readonly Route[] {
  const notAllowed = (call: Call, verb: string) => () =>
    forbidden(`Not allowed to ${verb} members for image ${call.param('id')}.`);
  return [
    withoutBody(
      get(path, async (call) => {
        const { id } = await findSharedImage(call, (reason) =>
          forbidden(`Not allowed to list members for image ${call.param('id')}: ${reason}`),
        );
        const members = await catalog(call).listMembers(call.caller, id);
        return { members: members.map(memberView), schema: '/v2/schemas/members' };
      }),
    ),
    post(path, async (call) => {
      const member = requiredField(call, 'member', 'Member to be added not specified');
      if (!member) throw badRequest("Member can't be empty");
      if (typeof member !== 'string' || member.length > 255) throw badRequest('Data supplied was not valid.');
      const image = await findSharedImage(call, notAllowed(call, 'create'));
      requirePolicy(call, 'add_member', image.projectId);
      const members = await catalog(call).listMembers(call.caller, image.id);
      if (members.some(({ projectId }) => projectId === member))
        throw conflict(`Member ${member} is duplicated for image ${image.id}`);
      checkCount('members for this image', members.length + 1, `Image member limit exceeded for image ${image.id}`);
      return memberView(await catalog(call).addMember(call.caller, image.id, member));
    }),
    withoutBody(
      get(`${path}/:member`, async (call) => memberView(await findMember(call, await findSharedImage(call, notFound)))),
    ),
    put(`${path}/:member`, async (call) => {
      const status = requiredField(call, 'status', 'Status not specified');
      const image = await findSharedImage(call, notAllowed(call, 'update'));
      const { projectId } = await findMember(call, image);
      requirePolicy(call, 'modify_member', projectId);
      const memberStatus = MEMBER_STATUSES.find((one) => one === status);
      if (!memberStatus) throw badRequest('Incorrect request: Status must be "pending", "accepted" or "rejected".');
      return memberView(await catalog(call).setMemberStatus(call.caller, image.id, projectId, memberStatus));
    }),
    withoutBody(
      del(`${path}/:member`, async (call) => {
        const image = await findSharedImage(call, notAllowed(call, 'delete'));
        const { projectId } = await findMember(call, image);
        requirePolicy(call, 'delete_member', image.projectId);
        await catalog(call).removeMember(call.caller, image.id, projectId);
        return noContent();
      }),
    ),
  ];
}
