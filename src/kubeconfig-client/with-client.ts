import { printable } from '../std/printable.js';
import { ClientError } from './client-error.js';
import type { KubeconfigClient } from './kubeconfig-client.js';
import { openKubeconfigClient } from './open-client.js';

/** The options of every command that asks a server. */
export interface ClientCommandOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
}

interface Output {
  write(text: string | Uint8Array): unknown;
}

export interface Outputs {
  readonly stdout: Output;
  readonly stderr: Output;
}

/** Runs a command with a client, and returns its exit code: 2 after an error of the client, which `tell` gets. */
export async function withClient(
  { kubeconfig: file, context }: ClientCommandOptions,
  tell: (line: string) => void,
  run: (client: KubeconfigClient) => Promise<number>,
): Promise<number> {
  let client: KubeconfigClient | undefined;
  try {
    client = await openKubeconfigClient({
      ...(file !== undefined && { file }),
      ...(context !== undefined && { context }),
    });
    return await run(client);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    // A server, or another program in its place, chooses some of the text.
    tell(printable(error.message));
    return 2;
  } finally {
    client?.close();
  }
}
