import type { Fault, FlavorCopy, Server } from '../model/index.js';
import { flavorPayload, type Initiator, instanceFields } from './instance-payload.js';
import { type NotificationObject, notificationObject } from './notification.js';

/** A step of what is done to a server, under the name that the original has for it. */
export interface InstanceStep {
  /** `create`, `resize_prep`. */
  readonly name: string;
  /** Left out: the original tells it without one. */
  readonly phase?: 'start' | 'end' | 'error';
  /** As it was then. */
  readonly server: Server;
  /** Why it failed. */
  readonly fault?: Fault;
}

/** What some actions have decided on, and some steps tell. */
interface StepArguments {
  readonly imageId?: string | null;
  readonly volumeId?: string;
  readonly oldVolumeId?: string;
  readonly newVolumeId?: string;
  readonly shareId?: string;
  readonly flavor?: FlavorCopy;
}

interface StepForm {
  readonly object: string;
  readonly version: string;
  readonly more?: (server: Server, args: StepArguments) => Readonly<Record<string, unknown>>;
}

const plain: StepForm = { object: 'InstanceActionPayload', version: '1.9' };

const certificates = ({ trustedCerts }: Server) => ({ trusted_image_certificates: trustedCerts });
const rebuilt: StepForm = { object: 'InstanceActionRebuildPayload', version: '1.10', more: certificates };
const ofVolume: StepForm = {
  object: 'InstanceActionVolumePayload',
  version: '1.7',
  more: (_server, { volumeId }) => ({ volume_id: volumeId }),
};
const ofShare: StepForm = {
  object: 'InstanceActionSharePayload',
  version: '1.0',
  more: (_server, { shareId }) => ({ share_id: shareId }),
};

/** Steps that say more than what every step says. */
const forms: Readonly<Record<string, StepForm>> = {
  create: {
    object: 'InstanceCreatePayload',
    version: '1.13',
    more: (server) => ({ keypairs: [], tags: server.tags, ...certificates(server) }),
  },
  rebuild: rebuilt,
  rebuild_scheduled: rebuilt,
  rescue: {
    object: 'InstanceActionRescuePayload',
    version: '1.4',
    more: (_server, { imageId }) => ({ rescue_image_ref: imageId || null }),
  },
  resize_prep: {
    object: 'InstanceActionResizePrepPayload',
    version: '1.4',
    more: (_server, { flavor }) => ({ new_flavor: flavor ? flavorPayload(flavor) : null }),
  },
  snapshot: {
    object: 'InstanceActionSnapshotPayload',
    version: '1.10',
    more: (_server, { imageId }) => ({ snapshot_image_id: imageId }),
  },
  volume_attach: ofVolume,
  volume_detach: ofVolume,
  volume_swap: {
    object: 'InstanceActionVolumeSwapPayload',
    version: '1.9',
    more: (_server, { oldVolumeId, newVolumeId }) => ({ old_volume_id: oldVolumeId, new_volume_id: newVolumeId }),
  },
  share_attach: ofShare,
  share_detach: ofShare,
};

function exceptionOf({ message, details }: Fault): NotificationObject {
  return notificationObject('ExceptionPayload', '1.1', {
    exception: /^(\w+)(?::|$)/.exec(details)?.[1] ?? 'Error',
    exception_message: message,
    module_name: null,
    function_name: null,
    traceback: details,
  });
}

/**
 * The payload of a step.
 *
 * @param args what the action has decided on
 */
export function stepPayload(step: InstanceStep, initiator: Initiator, args: unknown): NotificationObject {
  const { name, server, fault } = step;
  const { object, version, more } = (Object.hasOwn(forms, name) && forms[name]) || plain;
  return notificationObject(object, version, {
    ...instanceFields(server, initiator),
    fault: fault ? exceptionOf(fault) : null,
    ...more?.(server, (args ?? {}) as StepArguments),
  });
}
