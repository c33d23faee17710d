import { resource } from '../../reference/resource.js';

export const interfaceDocs = resource({
  tag: 'interfaces',
  parameters: { id: 'UUID of the port.' },
  when: {
    409: 'The state or the lock of the server does not allow it, or another server uses the port.',
    501: 'The driver does not support changing interfaces of a running server, or the cloud has no networking service.',
  },
  fields: {
    interfaceAttachments: 'The list of ports.',
    interfaceAttachment: 'A port.',
    fixed_ips: 'Fixed IP addresses. In requests: at most one, and only with a network.',
    'fixed_ips.ip_address': 'The IP address.',
    'fixed_ips.subnet_id': 'UUID of the subnet.',
    mac_addr: 'MAC address.',
    net_id: 'UUID of the network.',
    port_id: 'UUID of the port.',
    port_state: 'Status of the port: `ACTIVE`, `DOWN`, `BUILD` or `ERROR`.',
    'body.interfaceAttachment.tag': 'Device tag, which the guest reads from its metadata.',
    tag: 'Device tag, which the guest reads from its metadata, or null.',
    virtual_interfaces: 'The list of virtual interfaces.',
    'virtual_interfaces.id': 'UUID of the interface.',
    'virtual_interfaces.mac_address': 'MAC address.',
    'virtual_interfaces.net_id': 'UUID of the network.',
  },
});

export const volumeAttachmentDocs = resource({
  tag: 'volume-attachments',
  parameters: { id: 'UUID of the volume.' },
  when: { 409: 'The state or the lock of the server does not allow it.' },
  fields: {
    volumeAttachments: 'The volume attachments of this page.',
    volumeAttachment: 'A volume attachment.',
    id: 'Same as `volumeId`. In requests since 2.85: must equal the current value.',
    device:
      'Device name in the guest, such as `/dev/vdb`. The hypervisor can select a name other than the requested one.',
    serverId: 'UUID of the server. In requests since 2.85: must equal the ID in the path.',
    volumeId: 'UUID of the volume.',
    'body.volumeAttachment.tag': 'Device tag, which the guest reads from its metadata.',
    tag: 'Device tag, which the guest reads from its metadata, or null.',
    delete_on_termination: 'Whether the volume is deleted when the server is deleted. Default: false.',
    attachment_id: 'UUID of the attachment in the volume service.',
    bdm_uuid: 'UUID of the block device mapping.',
  },
});

export const shareDocs = resource({
  tag: 'shares',
  parameters: { id: 'UUID of the share.' },
  when: { 409: 'The server is not stopped, or the share is in use or not available.' },
  fields: {
    shares: 'The list of shares.',
    share: 'A share of a server.',
    share_id: 'UUID of the share.',
    status: 'Status of the attachment: `attaching`, `inactive`, `active`, `detaching` or `error`.',
    tag: 'Tag by which the guest mounts the share. Default: the UUID of the share.',
    uuid: 'UUID of the attachment. Administrators only.',
    export_location: 'Location from which the host mounts the share. Administrators only.',
  },
});
