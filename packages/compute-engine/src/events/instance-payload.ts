import type { Context } from '../core/context.js';
import type { FlavorCopy, New, PowerState, Server } from '../model/index.js';
import { type NotificationObject, notificationObject } from './notification.js';

/** The caller and the request that caused a change; undefined for changes without a request. */
export type Initiator = Pick<Context, 'caller' | 'requestId'> | undefined;

const powerStates: Readonly<Record<PowerState, string>> = {
  0: 'pending',
  1: 'running',
  3: 'paused',
  4: 'shutdown',
  6: 'crashed',
  7: 'suspended',
};

function formatTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Formats the flavor of a server for notifications. */
export function flavorPayload(flavor: FlavorCopy): NotificationObject {
  return notificationObject('FlavorPayload', '1.4', {
    flavorid: flavor.id,
    name: flavor.name,
    vcpus: flavor.vcpus,
    memory_mb: flavor.memoryMb,
    root_gb: flavor.diskGb,
    ephemeral_gb: flavor.ephemeralGb,
    swap: flavor.swapMb,
    extra_specs: flavor.extraSpecs,
  });
}

function addressPayloads({ interfaces }: New<Server>): readonly NotificationObject[] {
  return interfaces.flatMap((nic) =>
    nic.fixedIps.map(({ address, version }) =>
      notificationObject('IpPayload', '1.0', {
        address,
        version,
        mac: nic.mac,
        port_uuid: nic.portId,
        label: nic.label,
        device_name: `tap${nic.portId.slice(0, 11)}`,
        meta: {},
      }),
    ),
  );
}

function devicePayloads({ blockDevices }: New<Server>): readonly NotificationObject[] {
  return blockDevices.flatMap((device) =>
    device.volumeId === null
      ? []
      : notificationObject('BlockDevicePayload', '1.0', {
          device_name: device.device,
          boot_index: device.bootIndex,
          delete_on_termination: device.deleteOnTermination,
          tag: device.tag,
          volume_id: device.volumeId,
        }),
  );
}

/**
 * Returns the fields that every notification about a server contains. They exclude secrets: passwords, files and user
 * data.
 */
export function instanceFields(server: New<Server>, initiator: Initiator): Record<string, unknown> {
  return {
    uuid: server.id,
    user_id: server.userId,
    tenant_id: server.projectId,
    reservation_id: server.reservationId,
    display_name: server.name,
    display_description: server.description ?? server.name,
    host_name: server.hostname,
    host: server.host,
    node: server.node,
    os_type: server.imageProperties.os_type ?? null,
    architecture: server.imageProperties.architecture ?? null,
    availability_zone: server.pinnedZone,
    flavor: flavorPayload(server.flavor),
    image_uuid: server.imageId,
    key_name: server.keyName,
    kernel_id: server.kernelId ?? '',
    ramdisk_id: server.ramdiskId ?? '',
    created_at: formatTime(server.createdAt),
    updated_at: formatTime(server.updatedAt),
    launched_at: formatTime(server.launchedAt),
    terminated_at: formatTime(server.terminatedAt),
    deleted_at: server.deleted ? formatTime(server.terminatedAt ?? server.updatedAt) : null,
    state: server.vmState,
    power_state: powerStates[server.powerState],
    task_state: server.taskState,
    progress: server.progress,
    ip_addresses: addressPayloads(server),
    block_devices: devicePayloads(server),
    metadata: server.metadata,
    locked: server.lock !== null,
    locked_reason: server.lock?.reason ?? null,
    auto_disk_config: server.diskConfig,
    shares: server.shares.map(({ id, shareId, tag, status }) =>
      notificationObject('SharePayload', '1.0', { share_mapping_uuid: id, share_id: shareId, tag, status }),
    ),
    request_id: initiator?.requestId ?? null,
    action_initiator_user: initiator?.caller.userId ?? null,
    action_initiator_project: initiator?.caller.projectId ?? null,
  };
}

/** Formats the payload of a state change. */
export function updatePayload(
  before: Server | undefined,
  after: New<Server>,
  initiator: Initiator,
): NotificationObject {
  return notificationObject('InstanceUpdatePayload', '2.1', {
    ...instanceFields(after, initiator),
    tags: after.tags,
    old_display_name: before && before.name !== after.name ? before.name : null,
    state_update: notificationObject('InstanceStateUpdatePayload', '1.0', {
      old_state: before?.vmState ?? null,
      state: after.vmState,
      old_task_state: before?.taskState ?? null,
      new_task_state: after.taskState,
    }),
  });
}
