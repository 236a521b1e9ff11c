import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { killedAtExit } from '../../scripts/killed-at-exit.js';
import { eventually } from './eventually.js';

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  readonly params?: any; // eslint-disable-line @typescript-eslint/no-explicit-any
  readonly result?: any; // eslint-disable-line @typescript-eslint/no-explicit-any
  readonly error?: { readonly message: string };
}

/** A headless Chromium with one page, driven by the DevTools protocol. */
export class Chromium {
  private calls = 0;
  private session: string | undefined;
  private readonly pending = new Map<number, (message: Message) => void>();
  private hasEnded = false;
  /** Texts of the page's console with the levels warning and error, exceptions, and violations of its CSP. */
  readonly problems: string[] = [];
  /** URLs that the page has requested. */
  readonly requested: string[] = [];

  private constructor(
    private readonly child: ChildProcess,
    private readonly profile: string,
  ) {
    child.once('exit', () => {
      this.hasEnded = true;
      for (const answer of this.pending.values()) answer({ error: { message: 'Chromium has ended' } });
    });
    let begun: Buffer[] = [];
    (child.stdio[4] as Readable).on('data', (chunk: Buffer) => {
      for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0)) {
        this.received(JSON.parse(Buffer.concat([...begun, chunk.subarray(0, end)]).toString()) as Message);
        begun = [];
        chunk = chunk.subarray(end + 1);
      }
      begun.push(chunk);
    });
  }

  /** Starts the program with an empty profile. Certificates are not verified: servers of tests have their own CA. */
  static async start(path: string): Promise<Chromium> {
    const profile = await mkdtemp(join(tmpdir(), 'keelson-chromium-'));
    const child = spawn(
      path,
      [
        ...[
          '--headless=new',
          '--no-sandbox',
          '--disable-gpu',
          '--disable-dev-shm-usage',
          '--no-first-run',
          '--lang=en-US',
        ],
        ...['--ignore-certificate-errors', '--disable-background-networking', '--disable-component-update'],
        ...['--remote-debugging-pipe', `--user-data-dir=${profile}`, '--window-size=1440,900', 'about:blank'],
      ],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
    );
    killedAtExit(child);
    const chromium = new Chromium(child, profile);
    await chromium.attach();
    return chromium;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    if (!this.hasEnded && this.child.kill('SIGKILL')) await ended;
    await rm(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }

  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  async send(method: string, params: object = {}): Promise<any> {
    if (this.hasEnded) throw new Error(`${method}: Chromium has ended`);
    const id = ++this.calls;
    const answer = await new Promise<Message>((resolve) => {
      this.pending.set(id, resolve);
      const message = { id, method, params, ...(this.session && { sessionId: this.session }) };
      (this.child.stdio[3] as Writable).write(`${JSON.stringify(message)}\0`);
    });
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  }

  async open(url: string): Promise<void> {
    await this.send('Page.navigate', { url });
  }

  /** Evaluates an expression in the page and returns its JSON value; a promise is awaited. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = (await this.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
      allowUnsafeEvalBlockedByCSP: false,
    })) as { result: { value: T }; exceptionDetails?: { exception?: { description?: string }; text: string } };
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until the expression is true in the page; one that throws is not true yet. */
  async until(expression: string): Promise<void> {
    await eventually(expression, () => this.evaluate<boolean>(`Boolean(${expression})`).catch(() => false));
  }

  /** Waits until the page, or the element, shows the text. */
  async sees(text: string, selector = 'body'): Promise<void> {
    await this.until(
      `[...document.querySelectorAll(${JSON.stringify(selector)})].some((one) => one.textContent.includes(${JSON.stringify(text)}))`,
    );
  }

  /** Clicks the first element with the selector, and the text if one is given, as soon as nothing covers it. */
  async click(selector: string, text = ''): Promise<void> {
    await this.until(`(() => {
      const matches = (one) => one.checkVisibility() && !one.disabled && one.textContent.includes(${JSON.stringify(text)});
      const found = [...document.querySelectorAll(${JSON.stringify(selector)})].find(matches);
      if (!found) return false;
      found.scrollIntoView({ block: 'nearest' });
      const { left, top, width, height } = found.getBoundingClientRect();
      if (!found.contains(document.elementFromPoint(left + width / 2, top + height / 2))) return false;
      found.focus();
      found.click();
      return true;
    })()`);
  }

  /** Types into the focused element. */
  async type(text: string): Promise<void> {
    await this.send('Input.insertText', { text });
  }

  /** Presses a key: a character, or a name such as Enter, Tab or ArrowDown. */
  async press(key: string, { shift = false, control = false } = {}): Promise<void> {
    const modifiers = (shift ? 8 : 0) + (control ? 2 : 0);
    const code = keyCodes[key];
    const text = key.length === 1 && !control ? key : key === 'Enter' ? '\r' : undefined;
    const common = { key, modifiers, ...(code !== undefined && { windowsVirtualKeyCode: code, code: key }) };
    await this.send('Input.dispatchKeyEvent', {
      type: text ? 'keyDown' : 'rawKeyDown',
      ...common,
      ...(text && { text }),
    });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...common });
  }

  private async attach(): Promise<void> {
    let targetId: string | undefined;
    await eventually('Chromium has a page', async () => {
      const { targetInfos } = (await this.send('Target.getTargets')) as {
        targetInfos: { type: string; targetId: string }[];
      };
      targetId = targetInfos.find(({ type }) => type === 'page')?.targetId;
      return targetId !== undefined;
    });
    const { sessionId } = (await this.send('Target.attachToTarget', { targetId, flatten: true })) as {
      sessionId: string;
    };
    this.session = sessionId;
    for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await this.send(`${domain}.enable`);
  }

  private received(message: Message): void {
    const { id, method, params } = message;
    if (id !== undefined) {
      this.pending.get(id)?.(message);
      this.pending.delete(id);
    } else if (method === 'Page.javascriptDialogOpening') {
      // Leaves the page, also with unsaved text.
      void this.send('Page.handleJavaScriptDialog', { accept: true }).catch(() => undefined);
    } else if (method === 'Runtime.exceptionThrown') {
      this.problems.push(String(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text));
    } else if (method === 'Log.entryAdded' && params.entry.source === 'security') {
      this.problems.push(String(params.entry.text));
    } else if (method === 'Runtime.consoleAPICalled' && ['error', 'warning'].includes(params.type)) {
      this.problems.push(params.args.map((one: { value?: unknown }) => String(one.value)).join(' '));
    } else if (method === 'Network.requestWillBeSent') this.requested.push(String(params.request.url));
  }
}

const keyCodes: Readonly<Record<string, number>> = {
  Backspace: 8,
  Tab: 9,
  Enter: 13,
  Escape: 27,
  PageUp: 33,
  PageDown: 34,
  End: 35,
  Home: 36,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
};
