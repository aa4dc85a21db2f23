/**
 * What we need of `node:http`. Who imports that itself has Node load its client for fetch and WebSockets as well, which
 * takes a tenth of a start.
 */
export const { createServer, IncomingMessage, request, STATUS_CODES } = process.getBuiltinModule('node:http')
