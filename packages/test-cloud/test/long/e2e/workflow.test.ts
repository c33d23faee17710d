import { runWorkflow } from './run-workflow.js';
import { workflow } from './workflow/workflow.js';

runWorkflow('a workflow with the openstack command', workflow);
