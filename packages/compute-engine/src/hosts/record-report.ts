import type { Tx } from '@apistrata/record-store';
import type { DiskSpace, HostReport, Node, NodeDisk, NodeVolumes, Service } from '../model/index.js';
import { COMPUTE_BINARY } from '../scheduler/infrastructure.js';
import { tables } from '../schema/tables.js';

/**
 * The prefix of the reason that a host stores when it disables its own service, as in Nova. Reasons that administrators
 * enter do not have this prefix.
 */
const AUTOMATIC_PREFIX = 'AUTO: ';
const MAX_REASON_LENGTH = 255;
const BYTES_PER_GIB = 2 ** 30;

const toGib = (bytes: number) => Math.floor(bytes / BYTES_PER_GIB);

type ServiceEnablement = Pick<Service, 'disabled' | 'disabledReason'>;

/**
 * Returns whether a service is disabled after a report, and why. A service that an administrator has disabled stays
 * disabled.
 */
function enablementAfter({ disabled, disabledReason }: ServiceEnablement, { problem }: HostReport): ServiceEnablement {
  if (disabled && !disabledReason?.startsWith(AUTOMATIC_PREFIX)) return { disabled, disabledReason };
  if (problem === null) return { disabled: false, disabledReason: disabled ? null : disabledReason };
  return { disabled: true, disabledReason: `${AUTOMATIC_PREFIX}${problem}`.slice(0, MAX_REASON_LENGTH) };
}

function toNodeDisk({ totalBytes, freeBytes, promisedBytes }: DiskSpace): NodeDisk {
  return { totalGb: toGib(totalBytes), freeGb: toGib(freeBytes), leastGb: toGib(freeBytes - promisedBytes) };
}

/** Returns the disk space of a node after a report; the same object if nothing has changed. */
function diskAfter({ disk: stored }: Pick<Node, 'disk'>, { disk: reported }: HostReport): NodeDisk | undefined {
  if (!reported) return stored;
  const disk = toNodeDisk(reported);
  const isSame = stored?.totalGb === disk.totalGb && stored.freeGb === disk.freeGb && stored.leastGb === disk.leastGb;
  return isSame ? stored : disk;
}

/**
 * Stores a driver's report about a host's computer. A problem disables the host's compute service, and the end of the
 * problem enables it again. The free space of the disk and of the storage of volumes is stored in the node.
 *
 * @returns whether anything has changed
 */
export async function recordReport(tx: Tx, host: string, report: HostReport, now: number): Promise<boolean> {
  const changes = [await recordProblem(tx, host, report, now), await recordSpace(tx, host, report)];
  return changes.includes(true);
}

/** Returns the storage of volumes after a report; the same object if nothing has changed. */
function volumesAfter({ volumes: stored }: Pick<Node, 'volumes'>, { volumes: reported }: HostReport) {
  if (!reported) return stored;
  const { backend, totalBytes, freeBytes } = reported;
  const volumes: NodeVolumes = { backend, totalGb: toGib(totalBytes), freeGb: toGib(freeBytes) };
  const isSame = stored?.backend === backend && stored.totalGb === volumes.totalGb && stored.freeGb === volumes.freeGb;
  return isSame ? stored : volumes;
}

async function recordSpace(tx: Tx, host: string, report: HostReport): Promise<boolean> {
  const [node] = await tables.nodes.find(tx, (q) => q.where('host', '=', host));
  if (!node) return false;
  const [disk, volumes] = [diskAfter(node, report), volumesAfter(node, report)];
  if (disk === node.disk && volumes === node.volumes) return false;
  await tables.nodes.update(tx, { ...node, ...(disk && { disk }), ...(volumes && { volumes }) });
  return true;
}

async function recordProblem(tx: Tx, host: string, report: HostReport, now: number): Promise<boolean> {
  const [service] = await tables.services.find(tx, (q) =>
    q.where('host', '=', host).where('binary_name', '=', COMPUTE_BINARY),
  );
  if (!service) return false;
  const { disabled, disabledReason } = enablementAfter(service, report);
  if (disabled === service.disabled && disabledReason === service.disabledReason) return false;
  await tables.services.update(tx, { ...service, disabled, disabledReason, updatedAt: now });
  return true;
}
