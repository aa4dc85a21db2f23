import { storedFieldsOf } from './record-fields.ts'
import { type ResourceName, resourceNames } from './resources.ts'

/** What people and programs call a field, by language. The first name of a language is its label. */
type FieldNames = { en: readonly string[]; de: readonly string[]; fr: readonly string[]; es: readonly string[] }

type Listed = Readonly<Record<string, string>>

const language = (names: string): string[] => names.split(',').map((name) => name.trim())

/** English, German, French, Spanish, separated by `|`; names of one language by commas. */
const namesOf = (listed: string): FieldNames => {
  const [en = '', de = '', fr = '', es = ''] = listed.split('|')
  return { en: language(en), de: language(de), fr: language(fr), es: language(es) }
}

const times: Listed = {
  createdAt:
    'created at, created, creation date, created on, date created | angelegt am, erstellt am, erstellt, Anlagedatum, Erstelldatum, Erfassungsdatum | créé le, date de création, création | creado el, fecha de creación, fecha de alta, creado',
  updatedAt:
    'updated at, updated, last modified, modified at, modified, last update, last changed | geändert am, zuletzt geändert, Änderungsdatum, letzte Änderung, aktualisiert am | modifié le, date de modification, mis à jour le, dernière modification | actualizado el, modificado el, fecha de modificación, última modificación',
}
const deletedAt =
  'deleted at, deleted, deletion date, deleted on | gelöscht am, Löschdatum | supprimé le, date de suppression | eliminado el, fecha de eliminación, fecha de baja, borrado el'
const id = 'id, uuid, guid | ID | identifiant unique | identificador único'
const accountId =
  'account id, account, account number, account no, account code, customer id, customer number, customer no, customer, client id, client number, client no, customer code | Kundennummer, Kundennr, Kunden-Nr, Kunden-ID, Kunde, Kontonummer, KdNr, Kd-Nr, Debitorennummer, Debitor, Debitoren-Nr, Debitorennr | numéro client, n° client, no client, code client, client, identifiant client, compte, numéro de compte, compte client | número de cliente, nº cliente, n.º de cliente, código de cliente, código cliente, cliente, id cliente, num cliente, cuenta, número de cuenta'
const publicationId =
  'publication id, publication, publication code, magazine, title code, product, product code, newspaper, journal | Publikation, Titel-Code, Zeitschrift, Zeitung, Titelnummer, Objekt, Objektnummer, Publikations-ID, Magazin, Titel-Kürzel, Titelkürzel | publication, code publication, revue, magazine, titre du magazine, journal, code titre | publicación, código de publicación, revista, periódico, id publicación, cabecera'
const notes =
  'notes, note, remarks, remark, comments, comment, memo | Notizen, Notiz, Bemerkung, Bemerkungen, Anmerkung, Anmerkungen, Kommentar | remarques, remarque, commentaire, commentaires, note interne | notas, nota, observaciones, comentarios, comentario'
const status = 'status, state | Status, Zustand | statut, état | estado, situación'
const doNotEmail =
  'do not email, do not e-mail, no email, email opt out, opt out, unsubscribed, no mail | keine E-Mail, keine E-Mails, keine Mails, Keine Werbung, E-Mail-Sperre, Mailsperre, Werbesperre | pas d’e-mail, pas de courriel, ne pas envoyer d’e-mail, désabonné, refus e-mail, pas d’email | no enviar correo, sin correo, no enviar email, no enviar correos, baja de correo'
const externalId = {
  contacts:
    'external id, externalid, contact id, contact number, contact no, person id, reference, external reference, number, no | Kontaktnummer, Kontaktnr, Kontakt-ID, Personennummer, Nr, Nummer, externe ID, externe Nummer, Externe Nr, Ansprechpartner-Nr, Lfd. Nr | numéro de contact, n° contact, identifiant, identifiant contact, référence externe, réf. externe, numéro, code contact | número de contacto, id contacto, código de contacto, identificador, referencia externa, número, nº contacto',
  invoices:
    'external id, externalid, invoice id, invoice number, invoice no, invoice, number, no, document number, reference, bill number, external reference | Rechnungsnummer, Rechnungsnr, Rechnungs-Nr, Rechnung, Belegnummer, Belegnr, RgNr, Re-Nr, Nr, Nummer, externe ID, Externe Nr | numéro de facture, n° facture, no facture, facture, identifiant, référence, numéro, n° de facture, référence externe, réf. externe | número de factura, nº factura, n.º de factura, factura, nº de factura, núm. factura, identificador, número, referencia, referencia externa',
}

const listed: Readonly<Record<ResourceName, Listed>> = {
  publications: {
    id,
    code: 'code, publication code, publication id, short name, abbreviation, key | Kürzel, Code, Titelkürzel, Publikationscode, Titelnummer, Objektnummer, Kurzname, Schlüssel | code, code publication, abréviation, code titre | código, código de publicación, abreviatura, clave',
    name: 'name, title, publication, publication name, magazine, newspaper | Name, Titel, Bezeichnung, Publikation, Zeitschrift, Zeitung | nom, titre, publication, revue, magazine, intitulé | nombre, título, publicación, revista, periódico, denominación',
    isActive:
      'is active, active, appears, current | aktiv, ist aktiv, erscheint | actif, active, est actif, paraît | activo, activa, está activa, vigente',
    frequency:
      'frequency, publication frequency, interval, periodicity | Erscheinungsweise, Frequenz, Häufigkeit, Turnus, Erscheinungsrhythmus | fréquence, périodicité, parution | frecuencia, periodicidad',
    issFrequency:
      'issue frequency, iss frequency, issue counting, issues per year | Ausgabenzählung, Heftfolge, Ausgaben pro Jahr, Heftzählung | fréquence des numéros, numérotation, numéros par an | frecuencia de números, numeración, números por año',
    issueDecimals:
      'issue decimals, decimals | Nachkommastellen, Dezimalstellen, Nachkommastellen der Ausgabe | décimales, nombre de décimales | decimales, número de decimales',
    ...times,
  },
  accounts: {
    id,
    accountId,
    company:
      'company, company name, name, organisation, organization, business name, account name, customer name, firm | Firma, Firmenname, Unternehmen, Name, Organisation, Kundenname, Firmierung, Name 1 | société, entreprise, nom, raison sociale, nom de la société, organisation, nom du client | empresa, compañía, nombre, razón social, nombre de la empresa, organización, sociedad, nombre del cliente',
    address:
      'address, street, street address, address line 1, address 1, postal address | Straße, Adresse, Anschrift, Straße und Hausnummer, Straße/Hausnr, Straße Nr, Strasse und Nr | adresse, rue, adresse 1, voie, numéro et rue, adresse postale | dirección, calle, domicilio, calle y número, dirección postal, dirección 1',
    suite:
      'suite, floor, door, address line 2, address 2, unit, apartment | Adresszusatz, Zusatz, Etage, Stockwerk, Anschrift 2, Adresse 2, c/o | complément d’adresse, étage, complément, adresse 2, appartement, bâtiment | piso, puerta, planta, dirección 2, complemento, escalera',
    city: 'city, town, place, locality, address.city | Ort, Stadt, Wohnort, Ortschaft | ville, commune, localité | ciudad, localidad, población, municipio',
    state:
      'state, province, region, county, state/province, address.state | Bundesland, Land/Region, Kanton, Region | région, province, département, état | provincia, región, estado/provincia, comunidad autónoma, departamento',
    zip: 'zip, zip code, postal code, postcode, zipcode, address.zip, address.postalCode | PLZ, Postleitzahl | code postal, CP | código postal, CP, C.P., cód. postal',
    country:
      'country, country code, nation, address.country | Land, Staat, Ländercode, Länderkennzeichen | pays, code pays | país, código de país',
    webAddress:
      'web address, website, web site, url, homepage, web, domain | Webseite, Website, Homepage, Internet, Internetadresse, URL | site web, site internet, site, adresse web, URL | sitio web, página web, web, url, dirección web',
    status:
      'status, account status, customer status | Status, Kundenstatus, Zustand | statut, statut client, état du compte | estado, estado del cliente, situación',
    billingEmail:
      'billing email, billing e-mail, invoice email, email, e-mail, e-mail address, email address, mail, accounts email | Rechnungs-E-Mail, E-Mail, Email, E-Mail-Adresse, Mail, Rechnungsmail, E-Mail für Rechnungen | e-mail de facturation, courriel, e-mail, adresse e-mail, email, courriel de facturation, mail, mél | correo de facturación, correo electrónico, correo, e-mail, email, email de facturación, dirección de correo',
    invoiceEmailEnabled:
      'invoice email enabled, invoice by email, email invoices, e-invoice | Rechnung per E-Mail, E-Mail-Rechnung, Rechnungsversand per E-Mail | facture par e-mail, factures par courriel, facture électronique | factura por correo electrónico, factura por email, factura electrónica',
    invoicePrintEnabled:
      'invoice print enabled, invoice on paper, print invoices, paper invoice | Rechnung auf Papier, Papierrechnung, Rechnung per Post, Rechnung drucken | facture papier, factures imprimées, facture par courrier | factura en papel, factura impresa, factura por correo postal',
    doNotEmail,
    userId:
      'user id, user, created by | Benutzer, Benutzer-ID, angelegt von, Sachbearbeiter | utilisateur, identifiant utilisateur, créé par | usuario, id usuario, creado por',
    category:
      'category, customer category, type, segment, customer type | Kategorie, Kundengruppe, Kundentyp, Typ, Branche, Segment | catégorie, type, type de client, segment, secteur | categoría, tipo, tipo de cliente, segmento, sector',
    quality:
      'quality, rating, prospect quality, lead quality | Qualität, Bewertung, Güte | qualité, évaluation, note de qualité | calidad, valoración, calificación',
    primaryPublicationId: `primary publication id, primary publication, main publication, ${publicationId.split('|')[0]} | Hauptpublikation, Haupttitel, ${publicationId.split('|')[1]} | publication principale, titre principal, ${publicationId.split('|')[2]} | publicación principal, ${publicationId.split('|')[3]}`,
    ...times,
  },
  contacts: {
    id,
    externalId: externalId.contacts,
    accountId,
    ownerId:
      'owner id, owner, contact owner, account manager | Betreuer, Inhaber, Eigentümer, Zuständig, Besitzer, Sachbearbeiter | propriétaire, responsable, gestionnaire | propietario, responsable, gestor, asesor',
    name: 'name, full name, contact name, contact, display name | Name, vollständiger Name, Kontakt, Ansprechpartner, Kontaktname, Anzeigename, Vor- und Nachname | nom complet, nom et prénom, contact, nom du contact, prénom et nom, interlocuteur | nombre completo, nombre y apellidos, contacto, nombre del contacto, persona de contacto',
    firstName:
      'first name, firstname, given name, forename, christian name | Vorname, Rufname | prénom, prénoms | nombre, nombre de pila, primer nombre',
    lastName:
      'last name, lastname, surname, family name | Nachname, Familienname, Zuname | nom, nom de famille | apellido, apellidos, primer apellido',
    phone:
      'phone, phone number, telephone, tel, telephone number, phone 1, business phone | Telefon, Telefonnummer, Tel, Tel.-Nr, Rufnummer, Fon, Telefon 1 | téléphone, numéro de téléphone, tél, tél., téléphone 1, téléphone fixe | teléfono, número de teléfono, tel, tfno, teléfono 1, teléfono fijo',
    phone2:
      'phone 2, second phone, mobile, mobile phone, cell, cell phone, cellphone | Telefon 2, Mobil, Handy, Mobiltelefon, Mobilnummer, Handynummer | téléphone 2, portable, mobile, téléphone portable, tél. portable, téléphone mobile | teléfono 2, móvil, celular, teléfono móvil',
    extension:
      'extension, ext, phone extension | Durchwahl, Nebenstelle, DW | poste, extension, poste téléphonique | extensión, ext, interno',
    hideContact:
      'hide contact, hidden, is hidden, hide | versteckt, verborgen, ausgeblendet, Kontakt verbergen, ausblenden | masqué, caché, masquer le contact | oculto, ocultar contacto, ocultar',
    subsOnly:
      'subs only, subscriptions only, subscription only | nur Abos, nur Abonnements, nur Abo | abonnements seulement, abonnement seul, abonnements uniquement | solo suscripciones, sólo suscripciones',
    doNotEmail,
    email:
      'email, e-mail, email address, e-mail address, mail, mail address | E-Mail, E-Mail-Adresse, Email, Mail, Mailadresse | e-mail, courriel, adresse e-mail, adresse électronique, mail, email, mél, adresse mail | correo electrónico, correo, e-mail, email, dirección de correo, mail, dirección de correo electrónico',
    title:
      'title, position, job title, salutation, function, role | Position, Funktion, Anrede, Titel, Stellung, Berufsbezeichnung | titre, fonction, civilité, poste occupé | cargo, título, puesto, tratamiento, función',
    notes,
    deletedAt,
    ...times,
  },
  subscriptions: {
    id,
    subscriptionId:
      'subscription id, subscription, subscription no, subs id, external id, order number | Abo-ID, Abonummer, Abo-Nr, Abonr, Abonnement, Abonnementnummer, Abonnement-Nr, Abo | numéro d’abonnement, n° abonnement, abonnement, identifiant abonnement, code abonnement, n° d’abonnement | número de suscripción, nº suscripción, suscripción, id suscripción, código de suscripción',
    accountId: accountId
      .replace('customer id', 'subscriber id, subscriber number, subscriber, customer id')
      .replace('Kundennummer', 'Abonnentennummer, Abonnent, Kundennummer')
      .replace('numéro client', 'numéro d’abonné, abonné, numéro client')
      .replace('número de cliente', 'número de suscriptor, suscriptor, número de cliente'),
    publicationId,
    renewedFromSubsId:
      'renewed from subs id, renewed from, previous subscription, renewed from subscription | verlängert aus, Vorgänger, Vorgängerabo, verlängert von, Vorabo | renouvelé de, abonnement précédent, renouvellement de | renovada de, suscripción anterior, renovación de',
    renewalDate:
      'renewal date, renewal, renewed on, renews on | Verlängerungsdatum, Verlängerung, Verlängerung am, verlängert am | date de renouvellement, renouvellement, renouvelé le | fecha de renovación, renovación',
    status,
    startDate:
      'start date, start, begins on, begin, valid from, from, first day | Beginn, Startdatum, Abobeginn, gültig ab, Start, ab, von, Anfang, Laufzeitbeginn | date de début, début, à partir du, du, valable à partir du | fecha de inicio, inicio, desde, comienzo, válida desde',
    endDate:
      'end date, end, ends on, valid until, until, to, last day | Ende, Enddatum, Aboende, gültig bis, bis, Laufzeitende | date de fin, fin, jusqu’au, au, valable jusqu’au | fecha de fin, fin, hasta, final, fecha final, válida hasta',
    expireDate:
      'expire date, expiry date, expires on, expires, expiration date, expiry | Ablaufdatum, läuft ab am, Ablauf, Verfallsdatum | date d’expiration, expire le, expiration, échéance | fecha de vencimiento, vence el, caduca el, fecha de caducidad, vencimiento, caducidad',
    firstRunDate:
      'first run date, first issue, first issue date, first delivery | Erstlieferung, erste Ausgabe, erste Lieferung, Erstausgabe | premier numéro, date du premier numéro, première parution, première livraison | primer número, fecha del primer número, primera entrega',
    subscriptionNumber:
      'subscription number, label number, number on the label | Etikettennummer, Nummer auf dem Etikett, Adressetikett-Nr | numéro d’étiquette, numéro sur l’étiquette | número de etiqueta, número en la etiqueta',
    copies:
      'copies, number of copies, quantity, qty, count | Exemplare, Anzahl, Menge, Stück, Stückzahl, Anzahl Exemplare | exemplaires, nombre d’exemplaires, quantité, qté | ejemplares, número de ejemplares, cantidad, copias, cant.',
    autoReschedule:
      'auto reschedule, reschedule automatically, deliver later | automatisch nachliefern, Nachlieferung | report automatique, reprogrammation automatique | reprogramación automática, reprogramar automáticamente',
    autoInvoice:
      'auto invoice, invoice automatically, automatic invoice | automatisch abrechnen, automatische Rechnung, Autorechnung | facturation automatique, facture automatique | facturación automática, factura automática, facturar automáticamente',
    notes,
    totalNetCharge:
      'total net charge, net charge, net price, price, net amount, net, charge | Nettopreis, Preis, Nettobetrag, Netto, Abopreis | prix net, prix, montant net, prix HT, montant HT | precio neto, precio, importe neto, neto, cargo neto',
    totalApplied:
      'total applied, applied, paid, amount paid, payments | bezahlt, gezahlt, Zahlungen, bezahlter Betrag | payé, montant payé, réglé, montant réglé, paiements | pagado, importe pagado, pagos, cobrado',
    totalDue:
      'total due, amount due, due, outstanding, open amount, balance | offen, offener Betrag, fälliger Betrag, Restbetrag, Saldo | montant dû, solde, reste à payer, restant dû | importe pendiente, pendiente, saldo, adeudado, importe debido',
    deletedAt,
    ...times,
  },
  invoices: {
    id,
    externalId: externalId.invoices,
    accountId,
    publicationId,
    issueId:
      'issue id, issue, issue number | Ausgabe, Ausgaben-ID, Heft, Heftnummer, Ausgabennummer | numéro du magazine, édition, numéro de parution | número de edición, edición, ejemplar',
    status:
      'status, invoice status, payment status | Status, Rechnungsstatus, Zahlungsstatus, Zustand | statut, état, statut de la facture, statut de paiement | estado, estado de la factura, situación, estado de pago',
    issueDate:
      'issue date, invoice date, date, billing date, bill date, dated, issued on | Rechnungsdatum, Datum, Belegdatum, Ausstellungsdatum, Rechnungsdat., vom | date de facture, date de facturation, date, date d’émission, émise le | fecha de factura, fecha, fecha de emisión, fecha de facturación, emitida el',
    dueDate:
      'due date, due, due on, payable by, payment due, payment due date | fällig am, Fälligkeit, Fälligkeitsdatum, fällig, zahlbar bis, Zahlungsziel | date d’échéance, échéance, à payer avant le, exigible le, à régler avant le | fecha de vencimiento, vencimiento, vence el, pagadero el',
    terms:
      'terms, payment terms, terms of payment | Zahlungsbedingungen, Zahlungsbedingung, Konditionen | conditions de paiement, conditions, modalités de paiement | condiciones de pago, condiciones, forma de pago',
    total:
      'total, total amount, amount, grand total, invoice amount, invoice total, sum | Gesamtbetrag, Betrag, Summe, Rechnungsbetrag, Gesamt, Endbetrag, Gesamtsumme, Rechnungssumme | total, montant total, montant, total TTC, montant TTC, TTC | total, importe total, importe, total factura, importe de la factura, monto, monto total',
    totalDue:
      'total due, amount due, outstanding, open amount, balance, balance due, open balance | offener Betrag, offen, Restbetrag, Saldo, offener Posten, noch offen, Offen EUR | montant dû, solde, reste à payer, restant dû, solde dû | importe pendiente, pendiente, saldo, importe debido, saldo pendiente, pendiente de pago',
    gross: 'gross, gross amount | brutto, Bruttobetrag, Bruttosumme | brut, montant brut | bruto, importe bruto',
    net: 'net, net amount, subtotal, net total | netto, Nettobetrag, Nettosumme, Zwischensumme | net, montant net, total HT, montant HT, HT, sous-total | neto, importe neto, subtotal, base imponible',
    invoiceType:
      'invoice type, type, document type, kind | Rechnungsart, Art, Belegart, Rechnungstyp, Typ | type de facture, type, nature | tipo de factura, tipo, clase',
    invoiceDescription:
      'invoice description, description, subject, text | Beschreibung, Rechnungstext, Betreff, Bezeichnung, Verwendungszweck | description, objet, libellé, désignation | descripción, concepto, asunto, descripción de la factura',
    invCharges:
      'inv charges, charges, fees | Gebühren, Zuschläge, Nebenkosten | frais, charges | cargos, gastos, recargos',
    invInvoiced:
      'inv invoiced, invoiced, amount invoiced, billed | berechnet, fakturiert, berechneter Betrag, in Rechnung gestellt | montant facturé, déjà facturé | facturado, importe facturado',
    invApplied:
      'inv applied, applied, amount paid, payments, payments applied, received | bezahlter Betrag, gezahlt, Zahlungen, Zahlungseingang, verrechnet | montant payé, réglé, paiements, montant réglé, encaissé | importe pagado, pagos, cobrado, importe cobrado, abonado',
    invDiscount:
      'inv discount, discount, rebate | Rabatt, Nachlass, Skonto | remise, rabais, réduction, escompte | descuento, rebaja, bonificación',
    invTax:
      'inv tax, tax, vat, tax amount, sales tax, vat amount | Steuer, MwSt, USt, Umsatzsteuer, Mehrwertsteuer, Steuerbetrag, MwSt. Betrag | TVA, taxe, taxes, montant TVA, montant de la TVA | IVA, impuesto, impuestos, importe IVA, cuota IVA',
    datePaid:
      'date paid, paid on, payment date, paid at, paid | bezahlt am, Zahlungsdatum, Zahldatum, gezahlt am, bezahlt | payé le, payée le, date de paiement, réglé le, date de règlement | pagado el, pagada el, fecha de pago, fecha de cobro',
    isOpen: 'is open, open | ist offen, noch zu zahlen | est ouverte, ouverte, non soldée | está abierta, abierta',
    notes,
    ...times,
  },
  tasks: {
    id,
    accountId,
    title:
      'title, task, subject, what, summary, to do | Aufgabe, Titel, Betreff, Tätigkeit, zu tun | tâche, titre, objet, sujet, à faire | tarea, título, asunto, qué hacer',
    dueDate:
      'due date, due, due on, deadline, date | fällig am, Fälligkeit, Fälligkeitsdatum, Termin, fällig, Frist, Datum | échéance, date d’échéance, date limite, date, à faire avant le | fecha de vencimiento, vencimiento, fecha límite, plazo, fecha',
    userId:
      'user id, user, assignee, assigned to, owner | Benutzer, zuständig, zugewiesen an, Bearbeiter, Verantwortlich, Benutzer-ID | utilisateur, responsable, assigné à, attribué à | usuario, responsable, asignado a, id usuario',
    route: 'route, origin | Weg, Herkunft | origine, voie | ruta, origen',
    priority: 'priority, urgency | Priorität, Dringlichkeit, Prio | priorité, urgence | prioridad, urgencia',
    type: 'type, kind, task type | Art, Typ, Aufgabentyp, Aufgabenart | type, genre, type de tâche | tipo, clase, tipo de tarea',
    notes,
    doneAt:
      'done at, done, done on, completed at, completed, completed on, completion date, finished | erledigt am, erledigt, abgeschlossen am, Erledigungsdatum, abgeschlossen | fait le, terminé le, terminée le, date de réalisation, terminée | hecho el, hecha el, terminada el, completada el, fecha de realización',
    ...times,
  },
}

/** What files call the fields of a resource beside the names of the API, by field. */
export const fieldNames: Readonly<Record<ResourceName, Readonly<Record<string, FieldNames>>>> = Object.fromEntries(
  resourceNames.map((resource) => [
    resource,
    Object.fromEntries(Object.entries(listed[resource]).map(([field, names]) => [field, namesOf(names)])),
  ]),
) as Record<ResourceName, Record<string, FieldNames>> // of every name

/** A heading without case, accents, spaces and punctuation. */
export const normalisedHeading = (heading: string): string =>
  heading
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')

/** A number is written in many ways, in each of the languages. */
const abbreviations = (name: string): string[] => {
  const [, of] = /^(?:número|numéro|n[º°]) (?:de |d’)?(.+)$/i.exec(name) ?? []
  if (of !== undefined) return ['nº de', 'nº', 'num', 'num de', 'no d’', 'n'].map((sign) => `${sign} ${of}`)
  const [, what] = /^(.+?)[- ]?(?:nummer|number)$/i.exec(name) ?? []
  return what === undefined ? [] : ['nr', 'no', 'num', 'nummer', 'number'].map((sign) => `${what} ${sign}`)
}

/** An address may be an object of its own. */
const addressWords = ['address', 'adresse', 'anschrift', 'direccion', 'billingaddress', 'postaladdress', 'location']

const byHeading = new Map<ResourceName, ReadonlyMap<string, string>>()

/** Of two fields with the same name the one that comes first has it. The names of the API come before all others. */
const headingsOf = (resource: ResourceName): ReadonlyMap<string, string> => {
  const known = byHeading.get(resource)
  if (known) return known
  const found = new Map<string, string>()
  const fields = storedFieldsOf(resource).map(({ name }) => name)
  for (const field of fields) found.set(normalisedHeading(field), field)
  for (const field of fields) {
    const { en, de, fr, es } = fieldNames[resource][field] ?? { en: [], de: [], fr: [], es: [] }
    for (const name of [...en, ...de, ...fr, ...es]) {
      for (const written of [name, ...abbreviations(name)]) {
        const heading = normalisedHeading(written)
        if (heading !== '' && !found.has(heading)) found.set(heading, field)
      }
    }
  }
  byHeading.set(resource, found)
  return found
}

/** The field that a heading names, in any of the languages; null when it names none. */
export const fieldOfHeading = (resource: ResourceName, heading: string): string | null => {
  const headings = headingsOf(resource)
  const found = headings.get(normalisedHeading(heading))
  if (found !== undefined) return found
  const parts = heading.split('.').map(normalisedHeading)
  const [parent = '', last = ''] = parts.slice(-2)
  return parts.length > 1 && addressWords.includes(parent) ? (headings.get(last) ?? null) : null
}
