// The peer in Go: the contacts of the customer API as somebody writes them by hand with net/http and pgx, on the same tables
// and indexes as the peer with Express. Tokens are looked up by their hash and kept for half a minute, a list counts and
// reads in one round trip, a write is one statement, and the foreign key checks the account. With -tuned it reads a table of
// its own, bench.contacts, which has partial indexes and one of trigrams.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgtype"
	"github.com/jackc/pgx/v4"
	"github.com/jackc/pgx/v4/pgxpool"
)

const basePath = "/customer-api/v1/contacts"

type instant struct{ pgtype.Timestamptz }

func (i instant) MarshalJSON() ([]byte, error) {
	if i.Status != pgtype.Present {
		return []byte("null"), nil
	}
	return []byte(i.Time.UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}

type contact struct {
	ID          string  `json:"id"`
	AccountID   string  `json:"accountId"`
	OwnerID     *string `json:"ownerId"`
	Name        *string `json:"name"`
	FirstName   *string `json:"firstName"`
	LastName    *string `json:"lastName"`
	Phone       *string `json:"phone"`
	Phone2      *string `json:"phone2"`
	Extension   *string `json:"extension"`
	HideContact *bool   `json:"hideContact"`
	SubsOnly    *bool   `json:"subsOnly"`
	DoNotEmail  *bool   `json:"doNotEmail"`
	Email       *string `json:"email"`
	Title       *string `json:"title"`
	Notes       *string `json:"notes"`
	DeletedAt   instant `json:"deletedAt"`
	CreatedAt   instant `json:"createdAt"`
	UpdatedAt   instant `json:"updatedAt"`
}

const columns = `id, account_id, owner_id, name, first_name, last_name, phone, phone2, extension,
	hide_contact, subs_only, do_not_email, email, title, notes, deleted_at, created_at, updated_at`

func (c *contact) targets() []any {
	return []any{&c.ID, &c.AccountID, &c.OwnerID, &c.Name, &c.FirstName, &c.LastName, &c.Phone, &c.Phone2, &c.Extension,
		&c.HideContact, &c.SubsOnly, &c.DoNotEmail, &c.Email, &c.Title, &c.Notes,
		&c.DeletedAt, &c.CreatedAt, &c.UpdatedAt}
}

type list struct {
	Items    []contact `json:"items"`
	Page     int       `json:"page"`
	PageSize int       `json:"pageSize"`
	Total    int       `json:"total"`
}

type refusal struct {
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

func (r refusal) Error() string { return r.Detail }

// Of every query: a caller that hangs up would otherwise cost pgx its connection.
var background = context.Background()

type server struct {
	database *pgxpool.Pool
	tuned    bool
	tokens   sync.Map // of cachedToken by the hash of the token
}

type cachedToken struct {
	tenantID  string
	scopes    []string
	expiresAt time.Time
	revokedAt *time.Time
	cachedAt  time.Time
}

func (s *server) tenantOf(r *http.Request, scope string) (string, error) {
	secret := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if secret == "" {
		return "", refusal{401, "A bearer token is missing."}
	}
	hash := sha256.Sum256([]byte(secret))
	known, found := s.tokens.Load(hash)
	token, _ := known.(cachedToken)
	if !found || time.Since(token.cachedAt) > 30*time.Second {
		token = cachedToken{cachedAt: time.Now()}
		err := s.database.QueryRow(background,
			"select tenant_id, scopes, expires_at, revoked_at from access_tokens where secret_hash = $1", hash[:],
		).Scan(&token.tenantID, &token.scopes, &token.expiresAt, &token.revokedAt)
		if errors.Is(err, pgx.ErrNoRows) {
			return "", refusal{401, "The token is not valid."}
		}
		if err != nil {
			return "", err
		}
		s.tokens.Store(hash, token)
	}
	if token.revokedAt != nil || time.Now().After(token.expiresAt) {
		return "", refusal{401, "The token is not valid."}
	}
	for _, one := range token.scopes {
		if one == scope {
			return token.tenantID, nil
		}
	}
	return "", refusal{403, "The scope " + scope + " is missing."}
}

func (s *server) serveContacts(w http.ResponseWriter, r *http.Request) {
	var status = http.StatusOK
	var response any
	var err error
	switch r.Method {
	case http.MethodGet:
		response, err = s.list(r)
	case http.MethodPost:
		status = http.StatusCreated
		response, err = s.create(w, r)
	default:
		err = refusal{405, "The method is not allowed."}
	}
	send(w, status, response, err)
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func (s *server) serveContact(w http.ResponseWriter, r *http.Request) {
	var response any
	var err error
	id := strings.TrimPrefix(r.URL.Path, basePath+"/")
	switch {
	case !uuid.MatchString(id):
		err = refusal{400, "The id is not a UUID."}
	case r.Method == http.MethodGet:
		response, err = s.get(r, id)
	case r.Method == http.MethodPatch:
		response, err = s.update(r, id)
	default:
		err = refusal{405, "The method is not allowed."}
	}
	send(w, http.StatusOK, response, err)
}

func send(w http.ResponseWriter, status int, response any, err error) {
	var refused refusal
	if errors.As(err, &refused) {
		status, response = refused.Status, refused
	} else if err != nil {
		log.Print(err)
		status, response = 500, refusal{500, "Something failed."}
	}
	body, err := json.Marshal(response)
	if err != nil {
		log.Print(err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}

func (s *server) get(r *http.Request, id string) (any, error) {
	tenantID, err := s.tenantOf(r, "contacts:read")
	if err != nil {
		return nil, err
	}
	return readOne(s.database.QueryRow(background, "select "+columns+" from contacts where tenant_id = $1 and id = $2", tenantID, id))
}

func readOne(row pgx.Row) (any, error) {
	var found contact
	err := row.Scan(found.targets()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, refusal{404, "There is no such contact."}
	}
	var violation *pgconn.PgError
	if errors.As(err, &violation) && violation.Code == "23503" {
		return nil, refusal{422, "There is no such account."}
	}
	return found, err
}

func number(text string, otherwise, most int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 || value > most {
		return 0, refusal{400, fmt.Sprintf("There must be a number from 1 to %d.", most)}
	}
	return value, nil
}

var escaped = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

func (s *server) list(r *http.Request) (any, error) {
	tenantID, err := s.tenantOf(r, "contacts:read")
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	page, err := number(query.Get("page"), 1, 1<<31-1)
	if err != nil {
		return nil, err
	}
	pageSize, err := number(query.Get("pageSize"), 50, 200)
	if err != nil {
		return nil, err
	}
	where, values := "contacts where tenant_id = $1 and class = 0", []any{tenantID}
	if s.tuned {
		where = "bench.contacts where tenant_id = $1 and deleted_at is null and hide_contact is not true and subs_only is not true"
	}
	if accountID := query.Get("accountId"); accountID != "" {
		values = append(values, accountID)
		where += fmt.Sprintf(" and account_id = $%d", len(values))
	}
	if search := strings.TrimSpace(query.Get("search")); search != "" {
		values = append(values, "%"+escaped.Replace(search)+"%")
		where += fmt.Sprintf(s.matches(), len(values))
		if s.tuned {
			return s.readCounted(where, values, page, pageSize)
		}
	}
	return s.read(where, values, page, pageSize)
}

func (s *server) matches() string {
	if s.tuned {
		return " and search ilike $%d"
	}
	return ` and (name ilike $%[1]d or first_name ilike $%[1]d or last_name ilike $%[1]d or email ilike $%[1]d
		or phone ilike $%[1]d or phone2 ilike $%[1]d or title ilike $%[1]d)`
}

func (s *server) read(where string, values []any, page, pageSize int) (any, error) {
	found := list{Items: make([]contact, 0, pageSize), Page: page, PageSize: pageSize}
	var batch pgx.Batch
	batch.Queue("select count(*) from "+where, values...)
	batch.Queue("select "+columns+" from "+where+limited(values), append(values, pageSize, (page-1)*pageSize)...)
	results := s.database.SendBatch(background, &batch)
	defer results.Close()
	if err := results.QueryRow().Scan(&found.Total); err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		found.Items = append(found.Items, contact{})
		if err := rows.Scan(found.Items[len(found.Items)-1].targets()...); err != nil {
			return nil, err
		}
	}
	return found, rows.Err()
}

// Finds what matches once, and counts it on the way. With a count of its own, PostgreSQL might look for a rare word in the
// order of the list, because a prepared statement is planned for any word.
func (s *server) readCounted(where string, values []any, page, pageSize int) (any, error) {
	found := list{Items: make([]contact, 0, pageSize), Page: page, PageSize: pageSize}
	text := "select " + columns + ", count(*) over () from " + where + limited(values)
	rows, err := s.database.Query(background, text, append(values, pageSize, (page-1)*pageSize)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		found.Items = append(found.Items, contact{})
		if err := rows.Scan(append(found.Items[len(found.Items)-1].targets(), &found.Total)...); err != nil {
			return nil, err
		}
	}
	return found, rows.Err()
}

func limited(values []any) string {
	return fmt.Sprintf(" order by position limit $%d offset $%d", len(values)+1, len(values)+2)
}

// What a caller may write: the column of each field, and how long a text may be, or 0 for a flag.
var writable = []struct {
	field, column string
	longest       int
}{
	{"accountId", "account_id", 64}, {"name", "name", 255}, {"firstName", "first_name", 255}, {"lastName", "last_name", 255},
	{"phone", "phone", 50}, {"phone2", "phone2", 50}, {"extension", "extension", 20}, {"hideContact", "hide_contact", 0},
	{"subsOnly", "subs_only", 0}, {"doNotEmail", "do_not_email", 0}, {"email", "email", 254}, {"title", "title", 255},
	{"notes", "notes", 10_000},
}

// The columns that a body gives, and their values.
func readBody(r *http.Request) (given []string, values []any, err error) {
	var body map[string]any
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 256<<10)).Decode(&body); err != nil {
		return nil, nil, refusal{400, "The body is not a JSON object."}
	}
	if account, _ := body["accountId"].(string); account == "" {
		return nil, nil, refusal{400, "accountId is missing."}
	}
	if _, named := body["name"]; !named && r.Method == http.MethodPost {
		first, _ := body["firstName"].(string)
		last, _ := body["lastName"].(string)
		body["name"] = strings.TrimSpace(first + " " + last)
	}
	for _, one := range writable {
		value, found := body[one.field]
		if !found {
			continue
		}
		delete(body, one.field)
		text, isText := value.(string)
		_, isFlag := value.(bool)
		fits := isText && one.longest > 0 && utf8.RuneCountInString(text) <= one.longest || isFlag && one.longest == 0
		if value != nil && !fits {
			return nil, nil, refusal{400, one.field + " is not valid."}
		}
		given, values = append(given, one.column), append(values, value)
	}
	if len(body) > 0 {
		return nil, nil, refusal{400, "The body has fields that are not known."}
	}
	return given, values, nil
}

func (s *server) create(w http.ResponseWriter, r *http.Request) (any, error) {
	tenantID, err := s.tenantOf(r, "contacts:write")
	if err != nil {
		return nil, err
	}
	given, values, err := readBody(r)
	if err != nil {
		return nil, err
	}
	places := ""
	for index := range given {
		places += fmt.Sprintf(", $%d", index+2)
	}
	created, err := readOne(s.database.QueryRow(background, fmt.Sprintf(
		"insert into contacts (tenant_id, id, created_at, updated_at, %s) values ($1, uuidv7(), now(), now()%s) returning %s",
		strings.Join(given, ", "), places, columns), append([]any{tenantID}, values...)...))
	if err != nil {
		return nil, err
	}
	w.Header().Set("Location", basePath+"/"+created.(contact).ID)
	return created, nil
}

func (s *server) update(r *http.Request, id string) (any, error) {
	tenantID, err := s.tenantOf(r, "contacts:write")
	if err != nil {
		return nil, err
	}
	given, values, err := readBody(r)
	if err != nil {
		return nil, err
	}
	places := ""
	for index, column := range given {
		places += fmt.Sprintf(", %s = $%d", column, index+3)
	}
	return readOne(s.database.QueryRow(background, fmt.Sprintf(
		"update contacts set updated_at = now()%s where tenant_id = $1 and id = $2 returning %s", places, columns,
	), append([]any{tenantID, id}, values...)...))
}

func main() {
	tuned := flag.Bool("tuned", false, "read bench.contacts, which has partial indexes and one of trigrams")
	flag.Parse()
	config, err := pgxpool.ParseConfig("")
	if err != nil {
		log.Fatal(err)
	}
	config.MaxConns = 10
	database, err := pgxpool.ConnectConfig(background, config)
	if err != nil {
		log.Fatal(err)
	}
	s := &server{database: database, tuned: *tuned}
	mux := http.NewServeMux()
	mux.HandleFunc(basePath, s.serveContacts)
	mux.HandleFunc(basePath+"/", s.serveContact)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	// The program that started it reads where it serves, and ends it by closing its input.
	fmt.Printf("{\"origin\":\"http://%s\"}\n", listener.Addr())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	log.Fatal(http.Serve(listener, mux))
}
