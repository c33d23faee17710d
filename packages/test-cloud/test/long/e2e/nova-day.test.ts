import { novaDay } from './nova-day.js';
import { runDay } from './run-day.js';

runDay('a day with the nova command', novaDay);
