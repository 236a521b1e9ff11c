import type { Clock } from '../std/clock.js';
import { ClientError } from './client-error.js';
import type { Credentials, CredentialSource } from './credentials.js';
import { headerValue } from './header-value.js';
import type { Kubeconfig } from './kubeconfig.js';
import { LiveContent } from './live-content.js';

/** Credentials of a kubeconfig and of the files that it names, which are read again when they have changed. */
export class StoredCredentials implements CredentialSource {
  private readonly tokenFile: LiveContent | undefined;
  private readonly certificate: LiveContent | undefined;
  private readonly key: LiveContent | undefined;
  private current: Credentials | undefined;

  constructor(
    private readonly kubeconfig: Pick<Kubeconfig, 'location' | 'user'>,
    clock: Clock,
  ) {
    const { user, location } = kubeconfig;
    const pair = user.clientCertificate;
    const live = (field: string, content: ConstructorParameters<typeof LiveContent>[0]) =>
      new LiveContent(content, `${field} ${'file' in content ? content.file : ''} of kubeconfig ${location}`, clock);
    this.tokenFile = user.tokenFile === undefined ? undefined : live('tokenFile', { file: user.tokenFile });
    this.certificate = pair && live('client-certificate', pair.certificate);
    this.key = pair && live('client-key', pair.key);
  }

  async get(): Promise<Credentials> {
    const token = await this.token();
    const [certificate, key] = await Promise.all([this.certificate?.read(), this.key?.read()]);
    const last = this.current;
    const isSame =
      last?.token === token &&
      last?.clientCertificate?.certificate === certificate &&
      last?.clientCertificate?.key === key;
    if (last && isSame) return last;
    return (this.current = { token, clientCertificate: certificate && key && { certificate, key } });
  }

  reject(): boolean {
    this.tokenFile?.expire();
    return this.tokenFile !== undefined;
  }

  close(): void {
    return;
  }

  private async token(): Promise<string | undefined> {
    if (!this.tokenFile) return this.kubeconfig.user.token;
    const token = (await this.tokenFile.read()).toString('utf8').trim();
    if (token !== '' && headerValue(token) !== undefined) return token;
    const { location, user } = this.kubeconfig;
    throw new ClientError(
      'Kubeconfig',
      `tokenFile ${user.tokenFile} of kubeconfig ${location} must contain one token; write it again`,
    );
  }
}
