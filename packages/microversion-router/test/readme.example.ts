import { createServer } from 'node:http';
import { before, since, versioning } from '@apistrata/microversion';
import { object } from '@apistrata/microversion/schema';
import { createRouter, field, openApi, operationsOf, view } from '@apistrata/microversion-router';
import { z } from 'zod';

interface Todo {
  readonly id: number;
  readonly text: string;
  readonly color: string;
}

const todos: Todo[] = [];
const operation = operationsOf<object>();
const todo = view<Todo>({
  id: field(z.int(), ({ id }) => id),
  text: field(z.string(), ({ text }) => text),
  color: since(
    '2026-11-22',
    field(z.string(), ({ color }) => color),
  ),
});

const listTodos = operation({
  method: 'GET',
  path: '/todos',
  summary: 'List todos',
  status: 200,
  reply: { todos: [todo] },
  run: () => ({ todos }),
});
const addTodo = operation({
  method: 'POST',
  path: '/todos',
  summary: 'Add a todo',
  status: [before('2026-11-22', 200), since('2026-11-22', 201)],
  errors: [400],
  body: object({ text: z.string().min(1), color: since('2026-11-22', z.string().default('green')) }),
  reply: { todo },
  run: ({ body: { text, color = 'green' } }) => {
    const added = { id: todos.length + 1, text, color };
    todos.push(added);
    return { todo: added };
  },
});

const operations = [listTodos, addTodo];
export const router = createRouter({
  operations,
  call: () => ({}),
  negotiate: versioning({ versions: ['2025-03-01', '2026-11-22'] }).negotiate,
});
export const document = openApi(operations, { title: 'Todos', version: '2026-11-22' });
export const server = createServer(router).listen(Number(process.env.PORT ?? 3000));
