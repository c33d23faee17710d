import { afterAll } from 'vitest';
import { converse } from './conversation.js';
import { sampleFile } from './sample-file.js';

const file = sampleFile();
afterAll(() => file.remove());

const CONSUMER = '7b0e3f6c-54b5-4e39-9f0a-2f5f4e1d3c21';
const AGGREGATE = '0f6a9c1c-9c53-4d75-8a3e-6f3f6c2a9b10';

converse(
  'openstack',
  [
    { run: 'resource provider list', gives: /host1/, keep: { host: /\| (\S{36}) \| host1/ } },
    { run: 'resource provider show $host', gives: /\| name +\| host1 / },
    { run: 'resource provider inventory list $host', gives: [/MEMORY_MB/, /VCPU/] },
    { run: 'resource provider usage show $host', gives: /\| VCPU +\| +0 / },
    { run: 'resource provider trait list $host', gives: /COMPUTE_/ },
    { run: 'resource class list', gives: /VGPU/ },
    { run: 'trait list --name startswith:HW_CPU_X86_AVX', gives: /HW_CPU_X86_AVX2/ },
    { run: 'allocation candidate list --resource VCPU=1 --resource MEMORY_MB=64', gives: /VCPU=1,MEMORY_MB=64/ },
    { run: 'resource class create CUSTOM_GPU' },
    { run: 'resource provider create edge', keep: { edge: /\| uuid +\| (\S{36}) / } },
    { run: 'resource provider set --name rim $edge', gives: /\| name +\| rim / },
    {
      run: 'resource provider inventory set --resource VCPU=4 --resource CUSTOM_GPU=1 $edge',
      gives: [/CUSTOM_GPU/, /VCPU/],
    },
    { run: 'resource provider inventory class set --total 8 $edge VCPU', gives: /\| total +\| 8 / },
    { run: 'resource provider trait set --trait HW_NIC_SRIOV $edge', gives: /HW_NIC_SRIOV/ },
    { run: 'resource provider show $edge', keep: { generation: /\| generation +\| (\d+) / } },
    {
      run: `resource provider aggregate set --aggregate ${AGGREGATE} --generation $generation $edge`,
      gives: new RegExp(AGGREGATE),
    },
    { run: 'resource provider aggregate list $edge', gives: new RegExp(AGGREGATE) },
    {
      run: `resource provider allocation set --allocation rp=$edge,VCPU=2 --project-id p --user-id u ${CONSUMER}`,
      gives: /VCPU/,
    },
    { run: `resource provider allocation show ${CONSUMER}`, gives: /'VCPU': 2/ },
    { run: 'resource usage show p', gives: /\| VCPU +\| +2 / },
    // As in the original, capacity may fall below what is in use.
    { run: 'resource provider inventory class set --total 1 $edge VCPU', gives: /\| total +\| 1 / },
    { run: `resource provider allocation delete ${CONSUMER}` },
    { run: 'resource provider inventory delete --resource-class CUSTOM_GPU $edge' },
    { run: 'resource class delete CUSTOM_GPU' },
    { run: 'resource provider trait delete $edge' },
    { run: 'resource provider delete $edge' },
    { run: 'resource provider show $edge', fails: /No resource provider with uuid/ },
  ],
  { file: () => file.path, env: { OS_PLACEMENT_API_VERSION: '1.29' }, plugin: 'osc_placement' },
);
