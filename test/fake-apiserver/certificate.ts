/** Certificates for tests, made in place so that no key lies in the repository: X.509 v3, ECDSA P-256, written as DER by hand. */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

export interface Certificate {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

export interface CertificateProps {
  readonly commonName: string;
  /** Makes it a server's certificate for these. */
  readonly dnsNames?: readonly string[];
  readonly addresses?: readonly string[];
}

const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const length =
    body.length < 128
      ? Buffer.from([body.length])
      : body.length < 256
        ? Buffer.from([0x81, body.length])
        : Buffer.from([0x82, body.length >> 8, body.length & 255]);
  return Buffer.concat([Buffer.from([tag]), length, body]);
};

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const set = (...parts: readonly Buffer[]): Buffer => der(0x31, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const integer = (bytes: Buffer): Buffer => der(0x02, bytes);
const octets = (content: Buffer): Buffer => der(0x04, content);
const bits = (content: Buffer): Buffer => der(0x03, Buffer.from([0]), content);
const utf8 = (text: string): Buffer => der(0x0c, Buffer.from(text));
const time = (text: string): Buffer => der(0x17, Buffer.from(text));
const yes = der(0x01, Buffer.from([0xff]));

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
const nameOf = (commonName: string): Buffer => sequence(set(sequence(oid('550403'), utf8(commonName))));
const extension = (id: string, content: Buffer, critical = false): Buffer =>
  sequence(oid(id), ...(critical ? [yes] : []), octets(content));

const pem = (label: string, bytes: Buffer): string =>
  `-----BEGIN ${label}-----\n${bytes
    .toString('base64')
    .replace(/(.{64})/g, '$1\n')
    .trimEnd()}\n-----END ${label}-----\n`;

const keyIdOf = (publicKey: KeyObject): Buffer =>
  createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();

/** Signs certificates; `ca` is its own. */
export class CertificateAuthority {
  readonly ca: string;
  readonly #name: string;
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  constructor(name = 'test CA') {
    this.#name = name;
    const authority = extension('551d13', sequence(yes), true);
    this.ca = this.#issue(name, this.#keys.publicKey, [authority]);
  }

  issue(props: CertificateProps): Certificate {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const names = [
      ...(props.dnsNames ?? []).map((name) => der(0x82, Buffer.from(name))),
      ...(props.addresses ?? []).map((address) => der(0x87, Buffer.from(address.split('.').map(Number)))),
    ];
    const extensions = names.length === 0 ? [] : [extension('551d11', sequence(...names))];
    return {
      cert: this.#issue(props.commonName, publicKey, extensions),
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    };
  }

  #issue(commonName: string, publicKey: KeyObject, extensions: readonly Buffer[]): string {
    const serial = Buffer.concat([Buffer.from([1]), randomBytes(15)]);
    const keyId = extension('551d0e', octets(keyIdOf(publicKey)));
    const body = sequence(
      der(0xa0, integer(Buffer.from([2]))),
      integer(serial),
      ecdsaWithSha256,
      nameOf(this.#name),
      sequence(time('200101000000Z'), time('491231235959Z')),
      nameOf(commonName),
      publicKey.export({ type: 'spki', format: 'der' }),
      der(0xa3, sequence(keyId, ...extensions)),
    );
    return pem('CERTIFICATE', sequence(body, ecdsaWithSha256, bits(sign('sha256', body, this.#keys.privateKey))));
  }
}
