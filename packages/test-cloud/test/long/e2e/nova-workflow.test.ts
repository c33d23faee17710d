import { novaWorkflow } from './nova-workflow.js';
import { runWorkflow } from './run-workflow.js';

runWorkflow('a workflow with the nova command', novaWorkflow);
