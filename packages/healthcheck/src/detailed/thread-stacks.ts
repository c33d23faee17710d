import type { Session } from 'node:inspector';
import { isMainThread, threadId } from 'node:worker_threads';
import { captureStackText, framesOf } from './stack-text.js';

/**
 * How long to wait for the stacks of other threads. A thread in native code does not respond until it returns to
 * JavaScript.
 */
const RESPONSE_TIMEOUT_MS = 1_000;
const STACK_FRAMES = 50;
const EXPRESSION_URL = 'apistrata-healthcheck-stack';

/**
 * The expression that the inspector evaluates in another thread to get its stack. The inspector interrupts the
 * JavaScript code of that thread, even an endless loop, and evaluates the expression on top of its stack.
 */
const CAPTURE_EXPRESSION = `(() => {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = ${STACK_FRAMES + 2};
  const { stack } = new Error();
  Error.stackTraceLimit = limit;
  return String(stack);
})()
//# sourceURL=${EXPRESSION_URL}`;

const EVALUATE_PARAMETERS = { expression: CAPTURE_EXPRESSION, silent: true, returnByValue: true };

interface AttachedWorker {
  readonly sessionId: string;
  readonly workerInfo: { readonly title: string };
}

interface EvaluationResult {
  readonly result?: { readonly value?: unknown };
}

/**
 * Returns the stack traces of the main thread and all worker threads, the main thread first. Each consists of a title line and
 * the frames.
 */
export async function threadStacks(): Promise<readonly string[]> {
  const ownStack = captureStackText(threadStacks, STACK_FRAMES);
  const otherThreadStacks = await captureOtherStacks().catch((error: unknown) => [
    `[other threads]\n    (unavailable: ${error instanceof Error ? error.message : String(error)})`,
  ]);
  return isMainThread
    ? [formatStack('[main]', ownStack), ...otherThreadStacks]
    : [...otherThreadStacks, formatStack(`[worker ${threadId}]`, ownStack)];
}

function formatStack(title: string, frames: string): string {
  return `${title}\n${frames || '    (idle: waiting in its event loop)'}`;
}

async function captureOtherStacks(): Promise<readonly string[]> {
  const inspector: typeof import('node:inspector') | undefined = process.getBuiltinModule('node:inspector');
  if (!inspector) throw new Error('Node.js was built without the inspector');
  const session = new inspector.Session();
  if (isMainThread) session.connect();
  else session.connectToMainThread();
  try {
    return await requestStacks(session);
  } finally {
    // Disconnecting also closes the inspector sessions of the workers.
    session.disconnect();
  }
}

function requestStacks(session: Session): Promise<readonly string[]> {
  const titles = new Map<string, string>();
  const stacks = new Map<string, string>();
  const pendingSessions = new Set<string>();

  return new Promise((resolve, reject) => {
    const resolveStacks = () => {
      clearTimeout(timer);
      resolve(
        [...titles]
          .sort(([, a], [, b]) => a.localeCompare(b, 'en', { numeric: true }))
          .map(
            ([id, title]) =>
              stacks.get(id) ?? `${title}\n    (no response within ${RESPONSE_TIMEOUT_MS} ms: native code)`,
          ),
      );
    };
    const timer = setTimeout(resolveStacks, RESPONSE_TIMEOUT_MS);

    const completeSession = (id: string, value?: unknown) => {
      if (value !== undefined) stacks.set(id, formatStack(titles.get(id) ?? id, framesOfThread(String(value))));
      pendingSessions.delete(id);
      if (pendingSessions.size === 0) resolveStacks();
    };

    session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }: { params: AttachedWorker }) => {
      // If this code runs in a worker, the stack of that worker is already known.
      if (!isMainThread && workerInfo.title.startsWith(`[worker ${threadId}]`)) return;
      titles.set(sessionId, workerInfo.title);
      pendingSessions.add(sessionId);
      const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: EVALUATE_PARAMETERS });
      session.post('NodeWorker.sendMessageToWorker', { sessionId, message });
    });
    session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
      const { id, result } = JSON.parse(params.message) as { id?: number; result?: EvaluationResult };
      if (id === 1) completeSession(params.sessionId, result?.result?.value);
    });
    session.on('NodeWorker.detachedFromWorker', ({ params: { sessionId } }) => {
      if (sessionId === undefined) return;
      if (!stacks.has(sessionId)) titles.delete(sessionId);
      completeSession(sessionId);
    });

    // This entry is removed when Node has listed all workers. Until then, the collection continues, even if all known
    // workers have responded.
    pendingSessions.add('workers');
    if (!isMainThread) {
      titles.set('main', '[main]');
      pendingSessions.add('main');
      session.post('Runtime.evaluate', EVALUATE_PARAMETERS, (_error: Error | null, evaluated?: EvaluationResult) =>
        completeSession('main', evaluated?.result?.value),
      );
    }
    session.post('NodeWorker.enable', { waitForDebuggerOnStart: false }, (error) => {
      if (!error) return completeSession('workers');
      clearTimeout(timer);
      reject(error);
    });
  });
}

/** Returns the stack frames of another thread, without the frame of the expression that collected them. */
function framesOfThread(stack: string): string {
  return framesOf(stack)
    .split('\n')
    .filter((line) => !line.includes(EXPRESSION_URL))
    .join('\n');
}
