import { z } from 'zod';
import type { Call } from '../service/call.js';
import { del, get, noContent, post, put, type Route } from '../service/route.js';
import { notFound } from '../service/service-error.js';
import { memberView } from './image-view.js';

const Member = z.object({ member: z.string().min(1).max(255) });
const MemberStatus = z.object({ status: z.enum(['pending', 'accepted', 'rejected']) });
const path = '/v2/images/:id/members';

/** Projects that an image is shared with. */
export function memberRoutes(): readonly Route[] {
  const images = (call: Call) => call.cloud.catalogs.images;
  const callerAndId = (call: Call) => [call.caller, call.param('id')] as const;
  return [
    get(path, async (call) => ({
      members: (await images(call).listMembers(...callerAndId(call))).map(memberView),
      schema: '/v2/schemas/members',
    })),
    post(path, async (call) => {
      const { member } = call.body(Member);
      return memberView(await images(call).addMember(...callerAndId(call), member));
    }),
    get(`${path}/:member`, async (call) => {
      const members = await images(call).listMembers(...callerAndId(call));
      const member = members.find(({ projectId }) => projectId === call.param('member'));
      if (!member)
        throw notFound(`${call.param('member')} not found in the member list of the image ${call.param('id')}.`);
      return memberView(member);
    }),
    put(`${path}/:member`, async (call) => {
      const { status } = call.body(MemberStatus);
      return memberView(await images(call).setMemberStatus(...callerAndId(call), call.param('member'), status));
    }),
    del(`${path}/:member`, async (call) => {
      await images(call).removeMember(...callerAndId(call), call.param('member'));
      return noContent();
    }),
  ];
}
