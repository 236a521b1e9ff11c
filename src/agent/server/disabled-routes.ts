import { AgentError } from './agent-request.js';
import type { Route } from './routes.js';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Returns routes that say why a path is not served: --enable-debugging-handlers or --enable-system-log-handler is false. */
export function disabledRoutes(paths: readonly string[]): readonly Route[] {
  const handle = () => {
    throw new AgentError(405, 'Debug endpoints are disabled.\n');
  };
  return paths.map((path) => ({ methods, path: `${path}/*`, handle }));
}
