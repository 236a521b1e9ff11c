import { Module } from '@nestjs/common';
import { CertificatesGroup } from './certificates.group.js';

@Module({ providers: [{ provide: CertificatesGroup, useFactory: () => new CertificatesGroup() }] })
export class CertificatesModule {}
