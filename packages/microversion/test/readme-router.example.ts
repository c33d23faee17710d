import { createServer } from 'node:http';
import { computeFault, negotiator, since, until } from '@apistrata/microversion';
import { createRouter, field, openApi, operationsOf, view } from '@apistrata/microversion/router';
import { object } from '@apistrata/microversion/schema';
import { z } from 'zod';

interface Todo { readonly id: number; readonly text: string; readonly color: string }
interface Call { readonly todos: Todo[] }

const todos: Todo[] = [];
const todo = view<Todo, Call>({
  id: field(z.int(), (t) => t.id),
  text: field(z.string(), (t) => t.text),
  color: since('1.5', field(z.string(), (t) => t.color)),
});
const addTodo = operationsOf<Call>()({
  method: 'POST', path: '/todos', summary: 'Add a todo', policy: 'todos:create', errors: [400],
  status: [until('1.2', 200), since('1.3', 201)],
  body: object({ todo: object({ text: z.string().min(1), color: since('1.5', z.string().default('green')) }) }),
  reply: { todo },
  run: ({ todos, body }) => {
    todos.push({ id: todos.length + 1, text: body.todo.text, color: body.todo.color ?? 'green' });
    return { todo: todos.at(-1)! };
  },
});
export const router = createRouter<Call>({
  operations: [addTodo],
  call: () => ({ todos }),
  negotiate: negotiator({ service: 'todo', min: '1.1', max: '1.12' }).apply,
  fault: (error: any, _req, res) => {
    const { contentType, body } = computeFault({ status: error.status ?? 500, message: error.message });
    res.writeHead(error.status ?? 500, { 'Content-Type': contentType }).end(body);
  },
});
export const document = openApi([addTodo], { title: 'Todos', version: '1.5' });
export const server = createServer(router).listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
