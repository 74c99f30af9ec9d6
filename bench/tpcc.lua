-- sysbench: the tables and the five transactions of TPC-C, each transaction an event, in the usual mix 10:10:1:1:1.
-- Texts are shorter than the specification's, terminals do not think, and a new order's 1 % roll back.

sysbench.cmdline.options = {
  warehouses = {"Number of warehouses", 10},
  items = {"Items, and stock rows of a warehouse", 100000},
  customers = {"Customers, and first orders, of a district", 3000},
}

local DISTRICTS = 10
local SYLLABLES = {"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"}

local TABLES = {
  [[CREATE TABLE warehouse (w_id SMALLINT NOT NULL, w_name VARCHAR(10), w_street VARCHAR(20), w_city VARCHAR(20), w_state CHAR(2),
    w_zip CHAR(9), w_tax DECIMAL(4,2), w_ytd DECIMAL(12,2), PRIMARY KEY (w_id))]],
  [[CREATE TABLE district (d_w_id SMALLINT NOT NULL, d_id TINYINT NOT NULL, d_name VARCHAR(10), d_street VARCHAR(20), d_city VARCHAR(20),
    d_state CHAR(2), d_zip CHAR(9), d_tax DECIMAL(4,2), d_ytd DECIMAL(12,2), d_next_o_id INT, PRIMARY KEY (d_w_id, d_id))]],
  [[CREATE TABLE customer (c_w_id SMALLINT NOT NULL, c_d_id TINYINT NOT NULL, c_id INT NOT NULL, c_first VARCHAR(16), c_middle CHAR(2),
    c_last VARCHAR(16), c_street VARCHAR(20), c_city VARCHAR(20), c_phone CHAR(16), c_since DATETIME, c_credit CHAR(2),
    c_credit_lim BIGINT, c_discount DECIMAL(4,2), c_balance DECIMAL(12,2), c_ytd_payment DECIMAL(12,2), c_payment_cnt SMALLINT,
    c_delivery_cnt SMALLINT, c_data TEXT, PRIMARY KEY (c_w_id, c_d_id, c_id), KEY customer_name (c_w_id, c_d_id, c_last, c_first))]],
  [[CREATE TABLE history (h_c_id INT, h_c_d_id TINYINT NOT NULL, h_c_w_id SMALLINT NOT NULL, h_d_id TINYINT NOT NULL,
    h_w_id SMALLINT NOT NULL, h_date DATETIME, h_amount DECIMAL(6,2), h_data VARCHAR(24), KEY history_customer (h_c_w_id, h_c_d_id, h_c_id))]],
  [[CREATE TABLE orders (o_w_id SMALLINT NOT NULL, o_d_id TINYINT NOT NULL, o_id INT NOT NULL, o_c_id INT, o_entry_d DATETIME,
    o_carrier_id TINYINT, o_ol_cnt TINYINT, o_all_local TINYINT, PRIMARY KEY (o_w_id, o_d_id, o_id),
    KEY orders_customer (o_w_id, o_d_id, o_c_id, o_id))]],
  [[CREATE TABLE new_orders (no_w_id SMALLINT NOT NULL, no_d_id TINYINT NOT NULL, no_o_id INT NOT NULL,
    PRIMARY KEY (no_w_id, no_d_id, no_o_id))]],
  [[CREATE TABLE order_line (ol_w_id SMALLINT NOT NULL, ol_d_id TINYINT NOT NULL, ol_o_id INT NOT NULL, ol_number TINYINT NOT NULL,
    ol_i_id INT, ol_supply_w_id SMALLINT, ol_delivery_d DATETIME, ol_quantity TINYINT, ol_amount DECIMAL(6,2), ol_dist_info CHAR(24),
    PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number), KEY order_line_stock (ol_supply_w_id, ol_i_id))]],
  [[CREATE TABLE stock (s_w_id SMALLINT NOT NULL, s_i_id INT NOT NULL, s_quantity SMALLINT, s_dist CHAR(24), s_ytd DECIMAL(8,0),
    s_order_cnt SMALLINT, s_remote_cnt SMALLINT, s_data VARCHAR(50), PRIMARY KEY (s_w_id, s_i_id), KEY stock_item (s_i_id))]],
  [[CREATE TABLE item (i_id INT NOT NULL, i_im_id INT, i_name VARCHAR(24), i_price DECIMAL(5,2), i_data VARCHAR(50), PRIMARY KEY (i_id))]],
}

local function random(low, high) return sysbench.rand.uniform(low, high) end
local function text(n) return sysbench.rand.string(string.rep("@", n)) end

-- The specification's skewed numbers.
local function skewed(a, low, high)
  local bits, x, y, value, place = 0, random(0, a), random(low, high), 0, 1
  while x > 0 or y > 0 do
    if x % 2 == 1 or y % 2 == 1 then value = value + place end
    x, y, place = math.floor(x / 2), math.floor(y / 2), place * 2
  end
  return (value + 123) % (high - low + 1) + low
end

local function last_name(n)
  return SYLLABLES[math.floor(n / 100) + 1] .. SYLLABLES[math.floor(n / 10) % 10 + 1] .. SYLLABLES[n % 10 + 1]
end
local function a_customer() return skewed(1023, 1, sysbench.opt.customers) end
local function an_item() return skewed(8191, 1, sysbench.opt.items) end
local function a_name() return last_name(skewed(255, 0, math.min(999, sysbench.opt.customers - 1))) end

local function load_warehouse(con, w)
  local opt = sysbench.opt
  con:query(string.format("INSERT INTO warehouse VALUES (%d, '%s', '%s', '%s', 'CA', '123411111', 0.%02d, 300000)", w, text(8), text(15),
    text(15), random(0, 20)))
  con:bulk_insert_init("INSERT INTO stock VALUES")
  for i = 1, opt.items do
    con:bulk_insert_next(string.format("(%d, %d, %d, '%s', 0, 0, 0, '%s')", w, i, random(10, 100), text(24), text(30)))
  end
  con:bulk_insert_done()
  for d = 1, DISTRICTS do
    con:query(string.format("INSERT INTO district VALUES (%d, %d, '%s', '%s', '%s', 'CA', '123411111', 0.%02d, 30000, %d)", w, d, text(8),
      text(15), text(15), random(0, 20), opt.customers + 1))
    con:bulk_insert_init("INSERT INTO customer VALUES")
    for c = 1, opt.customers do
      local name = last_name(c <= 1000 and c - 1 or skewed(255, 0, 999))
      con:bulk_insert_next(string.format(
        "(%d, %d, %d, '%s', 'OE', '%s', '%s', '%s', '0123456789012345', '2026-01-01', '%s', 50000, 0.%02d, -10, 10, 1, 0, '%s')",
        w, d, c, text(12), name, text(15), text(15), random(1, 10) == 1 and "BC" or "GC", random(0, 50), text(200)))
    end
    con:bulk_insert_done()
    con:bulk_insert_init("INSERT INTO orders VALUES")
    local lines, delivered = {}, math.floor(opt.customers * 0.7)
    for o = 1, opt.customers do
      lines[o] = random(5, 15)
      local carrier = o <= delivered and tostring(random(1, 10)) or "NULL"
      con:bulk_insert_next(string.format("(%d, %d, %d, %d, '2026-01-01', %s, %d, 1)", w, d, o, (o * 7919) % opt.customers + 1, carrier, lines[o]))
    end
    con:bulk_insert_done()
    con:bulk_insert_init("INSERT INTO order_line VALUES")
    for o = 1, opt.customers do
      local at = o <= delivered and "'2026-01-01'" or "NULL"
      for n = 1, lines[o] do
        con:bulk_insert_next(string.format("(%d, %d, %d, %d, %d, %d, %s, 5, %d.%02d, '%s')", w, d, o, n, random(1, opt.items), w, at,
          random(0, 99), random(0, 99), text(24)))
      end
    end
    con:bulk_insert_done()
    con:bulk_insert_init("INSERT INTO new_orders VALUES")
    for o = delivered + 1, opt.customers do
      con:bulk_insert_next(string.format("(%d, %d, %d)", w, d, o))
    end
    con:bulk_insert_done()
  end
end

function prepare()
  local con = sysbench.sql.driver():connect()
  for _, definition in ipairs(TABLES) do con:query(definition) end
  con:bulk_insert_init("INSERT INTO item VALUES")
  for i = 1, sysbench.opt.items do
    con:bulk_insert_next(string.format("(%d, %d, '%s', %d.%02d, '%s')", i, random(1, 10000), text(14), random(1, 99), random(0, 99), text(30)))
  end
  con:bulk_insert_done()
  for w = 1, sysbench.opt.warehouses do load_warehouse(con, w) end
end

function thread_init()
  drv = sysbench.sql.driver()
  con = drv:connect()
end

local function q(...) return con:query(string.format(...)) end
local function row(...) return con:query_row(string.format(...)) end

local function new_order()
  local w, d, c = random(1, sysbench.opt.warehouses), random(1, DISTRICTS), a_customer()
  local count = random(5, 15)
  local fails = random(1, 100) == 1
  local items, local_only = {}, 1
  for n = 1, count do
    local supplier = w
    if sysbench.opt.warehouses > 1 and random(1, 100) == 1 then
      repeat supplier = random(1, sysbench.opt.warehouses) until supplier ~= w
      local_only = 0
    end
    items[n] = {id = an_item(), supplier = supplier, quantity = random(1, 10)}
  end
  -- Stock is locked in one order by everybody.
  table.sort(items, function(a, b) return a.supplier < b.supplier or (a.supplier == b.supplier and a.id < b.id) end)
  if fails then items[count].id = sysbench.opt.items + 1 end
  q("BEGIN")
  row("SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse WHERE w_id = %d AND c_w_id = w_id AND c_d_id = %d AND c_id = %d", w, d, c)
  local order = row("SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = %d AND d_id = %d FOR UPDATE", w, d)
  q("UPDATE district SET d_next_o_id = %d WHERE d_id = %d AND d_w_id = %d", order + 1, d, w)
  q("INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) VALUES (%d, %d, %d, %d, NOW(), %d, %d)",
    order, d, w, c, count, local_only)
  q("INSERT INTO new_orders (no_o_id, no_d_id, no_w_id) VALUES (%d, %d, %d)", order, d, w)
  for n, item in ipairs(items) do
    local price = row("SELECT i_price, i_name, i_data FROM item WHERE i_id = %d", item.id)
    if price == nil then
      q("ROLLBACK")
      return
    end
    local left, _, dist = row("SELECT s_quantity, s_data, s_dist FROM stock WHERE s_i_id = %d AND s_w_id = %d FOR UPDATE", item.id, item.supplier)
    left = tonumber(left)
    left = left > item.quantity and left - item.quantity or left - item.quantity + 91
    q("UPDATE stock SET s_quantity = %d WHERE s_i_id = %d AND s_w_id = %d", left, item.id, item.supplier)
    q("INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) VALUES (%d, %d, %d, %d, %d, %d, %d, %.2f, '%s')",
      order, d, w, n, item.id, item.supplier, item.quantity, item.quantity * tonumber(price), dist)
  end
  q("COMMIT")
end

-- The customer by name: the middle one in the order of first names.
local function by_name(w, d)
  local name = a_name()
  local found = tonumber((row("SELECT COUNT(*) FROM customer WHERE c_w_id = %d AND c_d_id = %d AND c_last = '%s'", w, d, name)))
  if found == 0 then return a_customer() end
  local chosen
  local rs = q("SELECT c_id FROM customer WHERE c_w_id = %d AND c_d_id = %d AND c_last = '%s' ORDER BY c_first", w, d, name)
  for _ = 1, math.floor((found + 1) / 2) do chosen = rs:fetch_row()[1] end
  rs:free()
  return tonumber(chosen)
end

local function payment()
  local w, d, amount = random(1, sysbench.opt.warehouses), random(1, DISTRICTS), random(1, 5000)
  local c_w, c_d = w, d
  if sysbench.opt.warehouses > 1 and random(1, 100) <= 15 then
    c_w, c_d = random(1, sysbench.opt.warehouses), random(1, DISTRICTS)
  end
  q("BEGIN")
  q("UPDATE warehouse SET w_ytd = w_ytd + %d WHERE w_id = %d", amount, w)
  local w_name = row("SELECT w_name, w_street, w_city, w_state, w_zip FROM warehouse WHERE w_id = %d", w)
  q("UPDATE district SET d_ytd = d_ytd + %d WHERE d_w_id = %d AND d_id = %d", amount, w, d)
  local d_name = row("SELECT d_name, d_street, d_city, d_state, d_zip FROM district WHERE d_w_id = %d AND d_id = %d", w, d)
  local c = random(1, 100) <= 60 and by_name(c_w, c_d) or a_customer()
  local credit, data = row("SELECT c_credit, c_data, c_first, c_last, c_street, c_balance FROM customer WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d FOR UPDATE", c_w, c_d, c)
  if credit == "BC" then
    data = string.sub(string.format("| %d %d %d %d %d %d %s", c, c_d, c_w, d, w, amount, data), 1, 500)
    q("UPDATE customer SET c_balance = c_balance - %d, c_ytd_payment = c_ytd_payment + %d, c_data = '%s' WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", amount, amount, data, c_w, c_d, c)
  else
    q("UPDATE customer SET c_balance = c_balance - %d, c_ytd_payment = c_ytd_payment + %d WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", amount, amount, c_w, c_d, c)
  end
  q("INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES (%d, %d, %d, %d, %d, NOW(), %d, '%s    %s')",
    c_d, c_w, c, d, w, amount, w_name, d_name)
  q("COMMIT")
end

local function order_status()
  local w, d = random(1, sysbench.opt.warehouses), random(1, DISTRICTS)
  q("BEGIN")
  local c = random(1, 100) <= 60 and by_name(w, d) or a_customer()
  row("SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", w, d, c)
  local o = row("SELECT o_id, o_carrier_id, o_entry_d FROM orders WHERE o_w_id = %d AND o_d_id = %d AND o_c_id = %d ORDER BY o_id DESC LIMIT 1", w, d, c)
  if o ~= nil then
    q("SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d", w, d, o)
  end
  q("COMMIT")
end

local function delivery()
  local w, carrier = random(1, sysbench.opt.warehouses), random(1, 10)
  q("BEGIN")
  for d = 1, DISTRICTS do
    local o = row("SELECT no_o_id FROM new_orders WHERE no_d_id = %d AND no_w_id = %d ORDER BY no_o_id ASC LIMIT 1 FOR UPDATE", d, w)
    if o ~= nil then
      q("DELETE FROM new_orders WHERE no_o_id = %d AND no_d_id = %d AND no_w_id = %d", o, d, w)
      local c = row("SELECT o_c_id FROM orders WHERE o_id = %d AND o_d_id = %d AND o_w_id = %d", o, d, w)
      q("UPDATE orders SET o_carrier_id = %d WHERE o_id = %d AND o_d_id = %d AND o_w_id = %d", carrier, o, d, w)
      q("UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_o_id = %d AND ol_d_id = %d AND ol_w_id = %d", o, d, w)
      local sum = row("SELECT SUM(ol_amount) FROM order_line WHERE ol_o_id = %d AND ol_d_id = %d AND ol_w_id = %d", o, d, w)
      q("UPDATE customer SET c_balance = c_balance + %s, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_id = %d AND c_d_id = %d AND c_w_id = %d", sum, c, d, w)
    end
  end
  q("COMMIT")
end

local function stock_level()
  local w, d, level = random(1, sysbench.opt.warehouses), random(1, DISTRICTS), random(10, 20)
  q("BEGIN")
  local o = row("SELECT d_next_o_id FROM district WHERE d_id = %d AND d_w_id = %d", d, w)
  row("SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id < %d AND ol_o_id >= %d AND s_w_id = %d AND s_i_id = ol_i_id AND s_quantity < %d",
    w, d, o, o - 20, w, level)
  q("COMMIT")
end

function event()
  local n = random(1, 23)
  if n <= 10 then new_order() elseif n <= 20 then payment() elseif n == 21 then order_status() elseif n == 22 then delivery() else stock_level() end
end

function sysbench.hooks.before_restart_event(err)
  con:query("ROLLBACK")
end
